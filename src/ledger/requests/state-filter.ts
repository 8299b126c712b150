import type { components } from "../../../generated/ledger.ts";
import type { TransactionFilter } from "../tables/search/transaction-filter.ts";
import type { TransactionState, TransactionType } from "../tables/transaction.ts";
import { type StatusVersion, statesShownAs, statusesOf } from "../views/state.ts";

type Status = components["schemas"]["Status"];

/** The parameters that filter by state. */
export interface StateQuery {
  state?: Status | undefined;
  payment_states?: Status[] | undefined;
  refund_states?: Status[] | undefined;
  dispute_states?: Status[] | undefined;
  status_version: StatusVersion;
}

/** A status that the version does not have would match nothing, which is never intended. */
export function statusErrorsOf(query: StateQuery): string[] {
  const version = query.status_version;
  const given = {
    state: query.state && [query.state],
    payment_states: query.payment_states,
    refund_states: query.refund_states,
    dispute_states: query.dispute_states,
  };
  return Object.entries(given)
    .filter(([, statuses]) => statuses?.some((status) => statesShownAs(status, version).length === 0))
    .map(
      ([name]) =>
        `query parameter ${name} must be one of ${statusesOf(version).join(", ")} with status_version ${version}`,
    );
}

/** The states that a query selects. */
export function stateFilterOf(query: StateQuery): Pick<TransactionFilter, "states" | "states_by_type"> {
  const statesOf = (statuses: Status[] | undefined): TransactionState[] | undefined =>
    statuses?.flatMap((status) => statesShownAs(status, query.status_version));
  const byType: [TransactionType, TransactionState[] | undefined][] = [
    ["PAYMENT", statesOf(query.payment_states)],
    ["REFUND", statesOf(query.refund_states)],
    ["DISPUTE", statesOf(query.dispute_states)],
  ];
  const given = byType.filter((one): one is [TransactionType, TransactionState[]] => one[1] !== undefined);
  return {
    states: query.state && statesOf([query.state]),
    states_by_type: given.length > 0 ? given : undefined,
  };
}
