import type { components, operations } from "../../../generated/ledger.ts";
import { lastPage } from "./search-links.ts";

type PayoutQuery = operations["searchPayouts"]["parameters"]["query"];

/** Links to the pages of a payout search, with every filter, in the order in which alphagov/pay-ledger writes them. */
export function viewPayoutLinks(
  url: string,
  query: PayoutQuery,
  { displaySize, total }: { displaySize: number; total: number },
): components["schemas"]["PayoutLinks"] {
  const { gateway_account_id, state, override_account_id_restriction: override, page } = query;
  const filters = Object.entries({
    gateway_account_id: gateway_account_id?.join(),
    state,
    override_account_id_restriction: override ? "true" : undefined,
  }).filter((filter): filter is [string, string] => filter[1] !== undefined);
  const pageLink = (number: number) => {
    const paging: [string, string][] = [
      ["page", String(number)],
      ["display_size", String(displaySize)],
    ];
    return { href: `${url}?${new URLSearchParams([...filters, ...paging])}` };
  };
  const last = lastPage(total, displaySize);
  return {
    self: pageLink(page),
    first_page: pageLink(1),
    last_page: pageLink(last),
    prev_page: page === 1 ? undefined : pageLink(Math.min(page - 1, last)),
    next_page: page < last ? pageLink(page + 1) : undefined,
  };
}
