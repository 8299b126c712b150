import { stateMachine } from "../../../generated/ledger.state-machine.ts";
import type { components } from "../../../generated/ledger.ts";
import type { TransactionState, TransactionType } from "../tables/transaction.ts";

export type StateView = components["schemas"]["TransactionState"];

/** In version 1 every payment that failed on the payer's side is `failed`, whose code tells why. */
export type StatusVersion = 1 | 2;

/** How the contract says that a state is shown. */
interface StateRow extends StateView {
  state: TransactionState;
  status_version_1?: StateView["status"];
}

const rows: readonly StateRow[] = stateMachine.transaction_states;

const viewsIn = (version: StatusVersion) =>
  new Map(
    rows.map(
      ({ state, status, status_version_1, finished, code, message }): [TransactionState, StateView] => [
        state,
        { status: (version === 1 && status_version_1) || status, finished, code, message },
      ],
    ),
  );
const views = { 1: viewsIn(1), 2: viewsIn(2) };

/** How a state is told to callers. */
export const viewState = (state: TransactionState, version: StatusVersion): StateView =>
  views[version].get(state) as StateView;

/** The states that are told as this status; none when the version does not know it. */
export const statesToldAs = (status: StateView["status"], version: StatusVersion): TransactionState[] =>
  [...views[version]].filter(([, view]) => view.status === status).map(([state]) => state);

/** Every status of a version, each once. */
export const statusesOf = (version: StatusVersion): StateView["status"][] => [
  ...new Set([...views[version].values()].map(({ status }) => status)),
];

const wordsOfStates: readonly {
  state: TransactionState;
  payment?: string;
  refund?: string;
  dispute?: string;
}[] = stateMachine.csv_states;

const wordsOf = (type: "payment" | "refund" | "dispute") =>
  new Map(wordsOfStates.map((row) => [row.state, row[type]]));
const words = {
  PAYMENT: wordsOf("payment"),
  REFUND: wordsOf("refund"),
  DISPUTE: wordsOf("dispute"),
} satisfies Record<TransactionType, object>;

/** A state in the words of a CSV, where it has any for this type. */
export const wordsOfState = (type: TransactionType, state: TransactionState): string | undefined =>
  words[type].get(state);
