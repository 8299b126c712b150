import { defaults as allDefaults } from "../../../generated/ledger.defaults.ts";
import type { components, operations } from "../../../generated/ledger.ts";

const defaults = allDefaults.searchTransactions;

type SearchQuery = operations["searchTransactions"]["parameters"]["query"];
type Links = components["schemas"]["SearchLinks"];

export interface SearchedPage {
  /** The URL of the request without its query. */
  url: string;
  query: SearchQuery;
  /** The size that applies. */
  displaySize: number;
  count: number;
  total: number;
  /** The cursor of the next page, if there is one. */
  nextCursor: string | undefined;
}

/** Links to the pages of a search, with every filter that differs from its default. */
export function viewSearchLinks(searched: SearchedPage): Links {
  const { url, query, displaySize, count, total, nextCursor } = searched;
  // The next page by number would not begin after the last transaction of a page that is cut short.
  const isCut = nextCursor !== undefined && count < displaySize;
  const { page } = query;
  const link = (...paging: [string, unknown][]) => {
    const parameters = [...filtersOf(query), ...paging, ["display_size", displaySize]];
    return { href: `${url}?${new URLSearchParams(parameters as [string, string][])}` };
  };
  const pageLink = (number: number) => link(["page", number]);
  const nextPage = isCut ? link(["cursor", nextCursor]) : pageLink(page + 1);
  const cursorLinks = { next_cursor: nextCursor === undefined ? undefined : link(["cursor", nextCursor]) };
  if (query.cursor !== undefined) {
    return { self: link(["cursor", query.cursor]), first_page: pageLink(1), ...cursorLinks };
  }
  const links = { self: pageLink(page), first_page: pageLink(1), ...cursorLinks };
  if (query.limit_total) {
    return {
      ...links,
      prev_page: page === 1 ? undefined : pageLink(page - 1),
      next_page: count === displaySize || isCut ? nextPage : undefined,
    };
  }
  const last = lastPage(total, displaySize);
  return {
    ...links,
    last_page: pageLink(last),
    prev_page: page === 1 ? undefined : pageLink(Math.min(page - 1, last)),
    next_page: page < last || isCut ? nextPage : undefined,
  };
}

export const lastPage = (total: number, displaySize: number) => Math.max(1, Math.ceil(total / displaySize));

type Filter = Exclude<
  keyof SearchQuery,
  "page" | "display_size" | "cursor" | "format" | "fee_headers" | "moto_header"
>;

/** Every filter, in the order in which alphagov/pay-ledger writes them. */
const filters: Filter[] = [
  "account_id",
  "from_date",
  "to_date",
  "email",
  "reference",
  "cardholder_name",
  "first_digits_card_number",
  "last_digits_card_number",
  "payment_states",
  "refund_states",
  "dispute_states",
  "card_brands",
  "state",
  "transaction_type",
  "gateway_payout_id",
  "from_settled_date",
  "to_settled_date",
  "metadata_value",
  "agreement_id",
  "gateway_transaction_id",
  "exact_reference_match",
  "override_account_id_restriction",
  "status_version",
  "limit_total",
  "limit_total_size",
];

const filtersOf = (query: SearchQuery): [string, unknown][] =>
  filters
    .map((name): [keyof SearchQuery, unknown] => [name, query[name]])
    .filter(([name, value]) => value !== (defaults as Partial<SearchQuery>)[name]);
