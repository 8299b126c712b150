import type { Comparison, Scale } from "./row.ts";

/** The median of several values, with their range. */
export interface Figure {
  median: number;
  min: number;
  max: number;
}

export interface Result {
  name: string;
  unit: string;
  ours: Figure;
  baseline?: { name: string } & Figure;
  /** The ratios of our value to that of the baseline, one per round. */
  ratio?: Figure;
  target?: Comparison["target"];
  reached?: boolean;
}

/**
 * Measures both sides in turn, round by round, after a warm-up. A slow phase of the machine then affects both. The side
 * that is first changes with each round.
 */
export async function compare(
  comparison: Comparison,
  { rounds, warmUpRounds }: Pick<Scale, "rounds" | "warmUpRounds">,
  onRound: () => void,
): Promise<Result> {
  const { name, unit, target, baseline } = comparison;
  const ours: number[] = [];
  const baselines: number[] = [];
  for (let round = 0; round < warmUpRounds && !comparison.rounds; round++) {
    await comparison.ours();
    await baseline?.measure();
  }
  for (let round = 0; round < (comparison.rounds ?? rounds); round++) {
    const turns = [
      async () => ours.push(await comparison.ours()),
      async () => baseline && baselines.push(await baseline.measure()),
    ];
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
    onRound();
  }
  const ratios = baselines.map((value, round) => (ours[round] as number) / value);
  const judged = figureOf(baseline ? ratios : ours);
  return {
    name,
    unit,
    ours: figureOf(ours),
    ...(baseline && { baseline: { name: baseline.name, ...figureOf(baselines) }, ratio: judged }),
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
    min: sorted.at(0) as number,
    max: sorted.at(-1) as number,
  };
}
