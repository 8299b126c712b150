import { firstFailingLine, type Outcome } from "./steps.ts";
import type { Check } from "./table.ts";

/** Rows of cells as aligned columns of text. */
const aligned = (rows: string[][]): string[] => {
  const widths = rows.reduce<number[]>(
    (most, row) => row.map((cell, index) => Math.max(cell.length, most[index] ?? 0)),
    [],
  );
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd(),
  );
};

const minutesOf = (seconds: number) => (seconds / 60).toFixed(1);

/** The outcomes as a table for a terminal. */
export const outcomesAsText = (outcomes: Outcome[]): string[] =>
  aligned([
    ["step", "minutes", "verdict", "seed", "why"],
    ...outcomes.map(({ name, seconds, verdict, seed, why }) => [
      name,
      minutesOf(seconds),
      verdict,
      String(seed),
      why,
    ]),
  ]);

/** The outcomes as a page of Markdown. */
export function outcomesAsMarkdown(title: string, outcomes: Outcome[]): string {
  const failed = outcomes.filter(({ verdict }) => verdict !== "passed");
  return [
    `# ${title}`,
    "",
    `${outcomes.length - failed.length} of ${outcomes.length} steps passed.`,
    "",
    "| step | minutes | verdict | seed | to repeat it |",
    "| --- | --- | --- | --- | --- |",
    ...outcomes.map(
      ({ name, seconds, verdict, seed, command }) =>
        `| ${name} | ${minutesOf(seconds)} | ${verdict} | ${seed} | \`${command}\` |`,
    ),
    ...outcomes
      .filter(({ verdict }) => verdict === "failed")
      .flatMap((outcome) => [
        "",
        `## ${outcome.name}`,
        "",
        "```",
        firstFailingLine(outcome),
        "```",
        "",
        outcome.log,
      ]),
    "",
  ].join("\n");
}

/** The page `docs/checks.md`. */
export const checksAsMarkdown = (circles: Record<string, Check[]>): string =>
  [
    "# Checks",
    "",
    "The table of `scripts/checks/check/table.ts`, as `npm run check -- --list` prints it. `npm run check -- --only NAME`",
    "runs one check. Minutes are those on two cores that do nothing else.",
    ...Object.entries(circles).flatMap(([title, checks]) => [
      "",
      `## ${title}`,
      "",
      "| check | verifies | minutes | is touched by changes of |",
      "| --- | --- | --- | --- |",
      ...checks.map(
        ({ name, covers, minutes, paths }) =>
          `| ${name} | ${covers} | ${minutes} | ${paths.map((path) => `\`${path}\``).join(", ") || "all files"} |`,
      ),
    ]),
    "",
  ].join("\n");
