import { defaults as allDefaults } from "../../../generated/ledger.defaults.ts";
import { ceilInstant, readInstant } from "../../values/instant.ts";
import {
  type ConditionParameter,
  type SearchQuery,
  searchParameters,
  type TransactionFilter,
} from "../tables/search/transaction-filter.ts";
import { stateFilterOf } from "./state-filter.ts";

const defaults: Partial<SearchQuery> = allDefaults.searchTransactions;
const meanings = Object.entries(searchParameters) as [keyof SearchQuery, unknown][];
const conditionNames = meanings.flatMap(([name, meaning]) => (typeof meaning === "function" ? [name] : []));
const linkNames = meanings.flatMap(([name, meaning]) => (meaning === "page" ? [] : [name]));

/** The transactions that a query selects. */
export function filterOf(query: SearchQuery): TransactionFilter {
  const same = Object.fromEntries(conditionNames.map((name) => [name, query[name]]));
  const { reference, card_brands, card_brand, from_settled_date: from, to_settled_date: to } = query;
  return {
    ...(same as Pick<SearchQuery, Exclude<ConditionParameter, "state">>),
    from_date: query.from_date && readInstant(query.from_date),
    to_date: query.to_date && ceilInstant(query.to_date),
    ...(query.exact_reference_match && { reference: undefined, exact_reference: reference }),
    card_brands: card_brand ? [...(card_brands ?? []), ...card_brand] : card_brands,
    settled: from || to ? { from, to } : undefined,
    ...stateFilterOf(query),
  };
}

/** The parameters that links have: those that differ from their defaults. */
export function linkParametersOf(query: SearchQuery): [string, unknown][] {
  const inLinks: SearchQuery = {
    ...query,
    from_date: inUtc(query.from_date, readInstant),
    to_date: inUtc(query.to_date, ceilInstant),
  };
  return linkNames
    .map((name): [keyof SearchQuery, unknown] => [name, inLinks[name]])
    .filter(([name, value]) => value !== defaults[name]);
}

/** An instant with `Z`: alphagov/pay-publicapi loses the `+` of an offset when it makes links of ours. */
const inUtc = (text: string | undefined, read: (text: string) => string | undefined): string | undefined =>
  text === undefined || /z$/i.test(text) ? text : read(text);
