import type { components, operations } from "../../../generated/ledger.ts";

type SearchQuery = operations["searchTransactions"]["parameters"]["query"];
type Links = components["schemas"]["SearchLinks"];

export interface SearchedPage {
  /** The address the caller used, without the query. */
  url: string;
  query: SearchQuery;
  /** The size in force. */
  displaySize: number;
  count: number;
  total: number;
  /** The cursor that leads to the next page, when there is one. */
  nextCursor: string | undefined;
}

/** Links to the pages of a search. They keep every filter, so that following them visits each match once. */
export function viewSearchLinks(searched: SearchedPage): Links {
  const { url, query, displaySize, count, total, nextCursor } = searched;
  const { page } = query;
  const link = (...paging: [string, unknown][]) => {
    const parameters = [...filtersOf(query), ...paging, ["display_size", displaySize]];
    return { href: `${url}?${new URLSearchParams(parameters as [string, string][])}` };
  };
  const pageLink = (number: number) => link(["page", number]);
  const cursorLinks = { next_cursor: nextCursor === undefined ? undefined : link(["cursor", nextCursor]) };
  if (query.cursor !== undefined) {
    return { self: link(["cursor", query.cursor]), first_page: pageLink(1), ...cursorLinks };
  }
  const links = { self: pageLink(page), first_page: pageLink(1), ...cursorLinks };
  if (query.limit_total) {
    return {
      ...links,
      prev_page: page === 1 ? undefined : pageLink(page - 1),
      next_page: count === displaySize ? pageLink(page + 1) : undefined,
    };
  }
  const last = lastPage(total, displaySize);
  return {
    ...links,
    last_page: pageLink(last),
    prev_page: page === 1 ? undefined : pageLink(Math.min(page - 1, last)),
    next_page: page < last ? pageLink(page + 1) : undefined,
  };
}

export const lastPage = (total: number, displaySize: number) => Math.max(1, Math.ceil(total / displaySize));

type Filter = Exclude<keyof SearchQuery, "page" | "display_size" | "cursor" | "fee_headers" | "moto_header">;

/** Every filter, in the order links have them, with the value that goes without saying. */
const filters: Record<Filter, unknown> = {
  account_id: undefined,
  from_date: undefined,
  to_date: undefined,
  email: undefined,
  reference: undefined,
  cardholder_name: undefined,
  first_digits_card_number: undefined,
  last_digits_card_number: undefined,
  payment_states: undefined,
  refund_states: undefined,
  dispute_states: undefined,
  card_brands: undefined,
  state: undefined,
  transaction_type: undefined,
  gateway_payout_id: undefined,
  from_settled_date: undefined,
  to_settled_date: undefined,
  metadata_value: undefined,
  agreement_id: undefined,
  gateway_transaction_id: undefined,
  exact_reference_match: false,
  override_account_id_restriction: false,
  status_version: 2,
  limit_total: false,
  limit_total_size: 10_000,
};

const filtersOf = (query: SearchQuery): [string, unknown][] =>
  Object.entries(filters)
    .map(([name, otherwise]) => ({ name, otherwise, value: query[name as Filter] }))
    .filter(({ value, otherwise }) => value !== otherwise)
    .map(({ name, value }) => [name, name === "transaction_type" ? String(value).toUpperCase() : value]);
