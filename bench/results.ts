import type { Figure, Result } from "./rounds.ts";

/** What is kept of a run. */
export interface Results {
  machine: { system: string; processor: string; memoryGiB: number; node: string };
  rows: MeasuredRow[];
}

export interface MeasuredRow {
  number: number;
  work: string;
  /** The day, in UTC. */
  measured: string;
  results: Result[];
}

/** Lines for people, a block for each row. */
export const tableOf = (rows: MeasuredRow[]): string[] =>
  rows.flatMap(({ number, work, results }) => [`${number}. ${work}`, ...results.map(lineOf)]);

function lineOf({ name, unit, ours, baseline, ratio, target, reached }: Result): string {
  const parts = [
    `${toPrecision(ours.median)} ${unit}`,
    baseline && `${baseline.name}: ${toPrecision(baseline.median)}`,
    ratio && `ratio ${spreadOf(ratio)}`,
    target && `${targetOf(target)}: ${reached ? "reached" : "NOT REACHED"}`,
  ];
  return `   ${name.padEnd(30)}  ${parts.filter(Boolean).join("; ")}`;
}

/** A median and, in brackets, the least and the most. */
export const spreadOf = ({ median, least, most }: Figure): string =>
  `${toPrecision(median)} (${toPrecision(least)} to ${toPrecision(most)})`;

export const targetOf = (target: NonNullable<Result["target"]>): string =>
  "atLeast" in target ? `at least ${target.atLeast}` : `at most ${target.atMost}`;

/** Three digits that count. */
const toPrecision = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
