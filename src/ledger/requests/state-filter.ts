import {
  type SearchQuery,
  type TransactionFilter,
  typesOfStates,
} from "../tables/search/transaction-filter.ts";
import type { TransactionType } from "../tables/transaction.ts";
import { statesShownAs, statusesOf } from "../views/state.ts";

type StatesParameter = keyof typeof typesOfStates;
type Status = NonNullable<SearchQuery["state"]>;

/** The parameters that filter by state. */
export type StateQuery = Pick<SearchQuery, "state" | StatesParameter | "status_version">;

const types = Object.entries(typesOfStates) as [StatesParameter, TransactionType][];
const parameters = ["state", ...types.map(([name]) => name)] as const;

/** A status that the version does not have would match nothing, which is never intended. */
export function statusErrorsOf({ status_version: version, ...query }: StateQuery): string[] {
  const statusesIn = (name: "state" | StatesParameter) => [query[name] ?? []].flat();
  return parameters
    .filter((name) => statusesIn(name).some((status) => statesShownAs(status, version).length === 0))
    .map(
      (name) =>
        `query parameter ${name} must be one of ${statusesOf(version).join(", ")} with status_version ${version}`,
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
