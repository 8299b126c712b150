import type { Ledgers } from "./ledger-data.ts";

/** One line of the table: some work, and what the same work costs somebody who does it another way. */
export interface Row {
  number: number;
  work: string;
  /** Starts what is to be measured; all of it ends with the stack, but for the ledgers, which the rows share. */
  open(scale: Scale, opened: AsyncDisposableStack, ledgers: Ledgers): Promise<Comparison[]>;
}

/** Measures one round; resolves with a figure in the unit of its comparison. */
export type Measure = () => Promise<number>;

export interface Comparison {
  name: string;
  unit: string;
  ours: Measure;
  /** Without one, what is judged is our figure, and not the ratio of both. */
  baseline?: { name: string; measure: Measure };
  /** What is reached, or only told when there is none. */
  target?: { atLeast: number } | { atMost: number };
  /** For what the same process can tell but once; as many as the scale says otherwise. */
  rounds?: 1;
}

/** How much is measured. */
export interface Scale {
  rounds: number;
  /** Of load, in a round of either. */
  seconds: number;
  /** The sizes of the ledgers that are compared, in transactions, ascending. */
  ledgers: number[];
  /** Payments of 3 events each, in a round of ingestion. */
  payments: number;
  /** Requests between the two looks at a service's memory. */
  requests: number;
}
