import type { Ledgers } from "./ledger-data.ts";

/** One row of the benchmark: a kind of work, compared with other ways to do it. */
export interface Row {
  title: string;
  /** Starts all that the comparisons need. It ends with the stack, except for the ledgers, which rows share. */
  open(scale: Scale, opened: AsyncDisposableStack, ledgers: Ledgers): Promise<Comparison[]>;
}

/** Measures one round. Resolves with a value in the unit of the comparison. */
export type Measure = () => Promise<number>;

export interface Comparison {
  name: string;
  unit: string;
  ours: Measure;
  /** Default: none. The target then applies to our value instead of the ratio. */
  baseline?: { name: string; measure: Measure };
  /** Default: none. The value is then only reported. */
  target?: { atLeast: number } | { atMost: number };
  /** For a measurement that a process can make only once. There is no warm-up then. Default: `rounds` of the scale. */
  rounds?: 1;
}

/** How much is measured. */
export interface Scale {
  rounds: number;
  /** Rounds that are not counted, because a new process is slow. */
  warmUpRounds: number;
  /** Duration of the load in a round, for each side. */
  seconds: number;
  /** The sizes of the ledgers in transactions, ascending. */
  ledgers: number[];
  /** Payments, of 3 events each, in a round of ingestion. */
  payments: number;
  /** Requests between the two measurements of the memory of a service. */
  requests: number;
}
