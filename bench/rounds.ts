import type { Comparison } from "./row.ts";

/** A median with how far the rounds were apart. */
export interface Figure {
  median: number;
  least: number;
  most: number;
}

export interface Result {
  name: string;
  unit: string;
  ours: Figure;
  baseline?: { name: string } & Figure;
  /** Of ours to the baseline's, of the same round each. */
  ratio?: Figure;
  target?: Comparison["target"];
  reached?: boolean;
}

/** Rounds that do not count: a new process is slow. */
const warmUpRounds = 2;

/**
 * Measures both, once they are warm, in turn, round by round, so that what slows the machine for a while slows both; who
 * is first changes with each round.
 */
export async function compare(comparison: Comparison, rounds: number, onRound: () => void): Promise<Result> {
  const { name, unit, target, baseline } = comparison;
  const ours: number[] = [];
  const others: number[] = [];
  const warmUp = async () => {
    await comparison.ours();
    await baseline?.measure();
  };
  for (let round = 0; round < warmUpRounds && !comparison.rounds; round++) await warmUp();
  for (let round = 0; round < (comparison.rounds ?? rounds); round++) {
    const turns = [
      async () => ours.push(await comparison.ours()),
      async () => baseline && others.push(await baseline.measure()),
    ];
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
    onRound();
  }
  const ratios = others.map((other, round) => (ours[round] as number) / other);
  const judged = figureOf(baseline ? ratios : ours);
  return {
    name,
    unit,
    ours: figureOf(ours),
    ...(baseline && { baseline: { name: baseline.name, ...figureOf(others) }, ratio: judged }),
    ...(target && { target, reached: isReached(judged.median, target) }),
  };
}

const isReached = (value: number, target: NonNullable<Comparison["target"]>) =>
  "atLeast" in target ? value >= target.atLeast : value <= target.atMost;

export function figureOf(values: number[]): Figure {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  return {
    median: middle.reduce((sum, value) => sum + value, 0) / middle.length,
    least: sorted.at(0) as number,
    most: sorted.at(-1) as number,
  };
}
