import { stateMachine } from "../../../generated/ledger.state-machine.ts";
import type { components } from "../../../generated/ledger.ts";
import { Bytes } from "../../values/bytes.ts";
import type { TransactionState, TransactionType } from "../tables/transaction.ts";

export type StateView = components["schemas"]["TransactionState"];

/** In version 1, `failed` covers several failures; the code distinguishes them. */
export type StatusVersion = 1 | 2;

/** A row of `transaction_states` in the contract. */
interface StateRow extends StateView {
  state: TransactionState;
  status_version_1?: StateView["status"];
}

const rows: readonly StateRow[] = stateMachine.transaction_states;

const viewsIn = (version: StatusVersion) =>
  new Map<TransactionState, StateView>(
    rows.map(({ state, status, status_version_1, ...view }) => [
      state,
      { status: (version === 1 && status_version_1) || status, ...view },
    ]),
  );
const views = { 1: viewsIn(1), 2: viewsIn(2) };

/** A state as callers see it. */
export const viewState = (state: TransactionState, version: StatusVersion): StateView =>
  views[version].get(state) as StateView;

const bytesIn = (version: StatusVersion) =>
  new Map([...views[version]].map(([state, view]) => [state, Bytes.from(JSON.stringify(view))]));
const bytes = { 1: bytesIn(1), 2: bytesIn(2) };

/** A state as callers see it, as JSON. */
export const stateJson = (state: TransactionState, version: StatusVersion): Bytes =>
  bytes[version].get(state) as Bytes;

/** How a version shows each state. */
export const statusesByState = (version: StatusVersion): Map<TransactionState, StateView["status"]> =>
  new Map([...views[version]].map(([state, { status }]) => [state, status]));

/** The states that are shown as this status; none if the version does not have it. */
export const statesShownAs = (status: StateView["status"], version: StatusVersion): TransactionState[] =>
  [...views[version]].filter(([, view]) => view.status === status).map(([state]) => state);

/** The statuses of a version, without duplicates. */
export const statusesOf = (version: StatusVersion): StateView["status"][] => [
  ...new Set([...views[version].values()].map(({ status }) => status)),
];

const csvNames = new Map<TransactionState, { [Type in Lowercase<TransactionType>]?: string }>(
  stateMachine.csv_states.map(({ state, ...names }) => [state, names]),
);

/** The name of a state in CSV, if the state has one for this type. */
export const csvStateName = (type: TransactionType, state: TransactionState): string | undefined =>
  csvNames.get(state)?.[type.toLowerCase() as Lowercase<TransactionType>];
