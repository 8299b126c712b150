import { defaults as allDefaults } from "../../../generated/ledger.defaults.ts";
import type { operations } from "../../../generated/ledger.ts";
import { ceilInstant, readInstant } from "../../values/instant.ts";

const defaults = allDefaults.searchTransactions;

type SearchQuery = operations["searchTransactions"]["parameters"]["query"];
type Filter = Exclude<
  keyof SearchQuery,
  "page" | "display_size" | "cursor" | "extended" | "format" | "fee_headers" | "moto_header"
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
  "card_brand",
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

/** The filters that differ from their defaults. */
export const viewSearchFilters = (query: SearchQuery): [string, unknown][] => {
  const inLinks: SearchQuery = {
    ...query,
    from_date: inUtc(query.from_date, readInstant),
    to_date: inUtc(query.to_date, ceilInstant),
  };
  return filters
    .map((name): [keyof SearchQuery, unknown] => [name, inLinks[name]])
    .filter(([name, value]) => value !== (defaults as Partial<SearchQuery>)[name]);
};

/** An instant with `Z`: alphagov/pay-publicapi loses the `+` of an offset when it makes links of ours. */
const inUtc = (text: string | undefined, read: (text: string) => string | undefined): string | undefined =>
  text === undefined || /z$/i.test(text) ? text : read(text);
