import type { Figure, Result } from "./rounds.ts";

/** The content of `results.json`. */
export interface Results {
  machine: { system: string; processor: string; memoryGiB: number; node: string };
  rows: MeasuredRow[];
}

export interface MeasuredRow {
  number: number;
  title: string;
  /** The day of the measurement, in UTC. */
  date: string;
  results: Result[];
}

/** The rows as lines of text. */
export const tableOf = (rows: MeasuredRow[]): string[] =>
  rows.flatMap(({ number, title, results }) => [`${number}. ${title}`, ...results.map(lineOf)]);

function lineOf({ name, unit, ours, baseline, ratio, target, reached }: Result): string {
  const parts = [
    `${toPrecision(ours.median)} ${unit}`,
    baseline && `${baseline.name}: ${toPrecision(baseline.median)}`,
    ratio && `ratio ${rangeOf(ratio)}`,
    target && `${targetOf(target)}: ${reached ? "reached" : "NOT REACHED"}`,
  ];
  return `   ${name.padEnd(30)}  ${parts.filter(Boolean).join("; ")}`;
}

/** `0.6 (0.5 to 0.9)`: the median, the minimum and the maximum. */
const rangeOf = ({ median, min, max }: Figure): string =>
  `${toPrecision(median)} (${toPrecision(min)} to ${toPrecision(max)})`;

const targetOf = (target: NonNullable<Result["target"]>): string =>
  "atLeast" in target ? `at least ${target.atLeast}` : `at most ${toPrecision(target.atMost)}`;

/** Rounds to three significant digits, or to an integer from 100 on. */
const toPrecision = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
