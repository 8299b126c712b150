import { defaults as allDefaults } from "../../../generated/ledger.defaults.ts";
import { describeSchema } from "../../contract/describe-schema.ts";
import { parameterFault, type RequestFault } from "../../http/failure.ts";
import { ceilInstant, readInstant } from "../../values/instant.ts";
import {
  type ConditionParameter,
  type SearchQuery,
  searchParameters,
  type TransactionFilter,
  typesOfStates,
} from "../tables/search/transaction-filter.ts";
import type { TransactionType } from "../tables/transaction.ts";
import { statesShownAs, statusesOf } from "../views/state.ts";

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

type StatesParameter = keyof typeof typesOfStates;
type Status = NonNullable<SearchQuery["state"]>;

/** The parameters that filter by state. */
export type StateQuery = Pick<SearchQuery, "state" | StatesParameter | "status_version">;

const types = Object.entries(typesOfStates) as [StatesParameter, TransactionType][];
const parameters = ["state", ...types.map(([name]) => name)] as const;

/** A status that the version does not have would match nothing, which is never intended. */
export function statusErrorsOf({ status_version: version, ...query }: StateQuery): RequestFault[] {
  const allowed = statusesOf(version);
  const statusesIn = (name: "state" | StatesParameter) => [query[name] ?? []].flat();
  return parameters
    .filter((name) => statusesIn(name).some((status) => statesShownAs(status, version).length === 0))
    .map((name) =>
      parameterFault(
        name,
        { enum: allowed },
        `query parameter ${name} must be one of ${describeSchema({ enum: allowed })} with status_version ${version}`,
      ),
    );
}

/** The states that a query selects. */
export function stateFilterOf(query: StateQuery): Pick<TransactionFilter, "state" | "states_by_type"> {
  const statesOf = (statuses: Status[]) =>
    statuses.flatMap((status) => statesShownAs(status, query.status_version));
  const byType = types.flatMap(([name, type]): TransactionFilter["states_by_type"] & object => {
    const statuses = query[name];
    return statuses ? [[type, statesOf(statuses)]] : [];
  });
  return {
    state: query.state && statesOf([query.state]),
    states_by_type: byType.length > 0 ? byType : undefined,
  };
}
