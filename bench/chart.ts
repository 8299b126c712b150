import type { Results } from "./results.ts";
import type { Result } from "./rounds.ts";

const width = 900;
const labelWidth = 430;
const lineHeight = 20;
const barHeight = 12;
const right = width - 60;

/** A comparison with a bar in the chart, and its vertical position. */
type Bar = Result & Required<Pick<Result, "ratio" | "target">> & { y: number };

/**
 * Draws the ratio of every comparison that has a target, as SVG. Each has a bar for the median, a line for the range of
 * the rounds, and a mark for the target.
 */
export function chartOf({ rows }: Results): string {
  let y = 10;
  const nextLine = () => (y += lineHeight);
  const sections = Object.entries({
    atLeast: "Throughput relative to the baseline (1): higher is better",
    atMost: "Time or memory relative to the baseline (1): lower is better",
  }).flatMap(([direction, heading]) => {
    const shown = rows
      .map(({ results, ...row }) => ({
        ...row,
        results: results.filter(hasBar).filter(({ target }) => direction in target),
      }))
      .filter(({ results }) => results.length > 0);
    if (shown.length === 0) return [];
    const labels = [text(10, nextLine(), heading, 'font-weight="bold" font-size="14"')];
    const top = y;
    const bars: Bar[] = [];
    for (const { number, title, results } of shown) {
      labels.push(text(10, nextLine(), `${number}. ${title}`));
      for (const result of results) bars.push({ ...result, y: nextLine() });
    }
    nextLine();
    return [...labels, ...drawBars(bars, top)];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" font-family="sans-serif" font-size="12">`,
    "<title>Ratios of the services to their baselines</title>",
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    ...sections,
    "</svg>\n",
  ].join("\n");
}

const hasBar = (result: Result): result is Omit<Bar, "y"> =>
  result.ratio !== undefined && result.target !== undefined;

function drawBars(bars: Bar[], top: number): string[] {
  const maximum = Math.max(1, ...bars.flatMap(({ ratio, target }) => [ratio.median, limitOf(target)]));
  const x = (value: number) => labelWidth + ((right - labelWidth) * Math.min(value, maximum)) / maximum;
  const bottom = Math.max(...bars.map(({ y }) => y + 4));
  return [
    `<line x1="${x(1)}" x2="${x(1)}" y1="${top + 6}" y2="${bottom}" stroke="#888" stroke-dasharray="3 3"/>`,
    ...bars.flatMap(({ name, ratio, target, reached, y }) => {
      const barTop = y - 10;
      const middle = barTop + barHeight / 2;
      const mark = x(limitOf(target));
      return [
        text(labelWidth - 8, y, name, 'text-anchor="end"'),
        `<rect x="${labelWidth}" y="${barTop}" width="${x(ratio.median) - labelWidth}" height="${barHeight}" fill="${reached ? "#2f7d5b" : "#c98a2b"}"/>`,
        `<line x1="${x(ratio.min)}" x2="${x(ratio.max)}" y1="${middle}" y2="${middle}" stroke="#222"/>`,
        `<line x1="${mark}" x2="${mark}" y1="${barTop - 3}" y2="${barTop + barHeight + 3}" stroke="#b00020" stroke-width="2"/>`,
        text(right + 8, y, ratio.median.toFixed(2)),
      ];
    }),
  ];
}

const limitOf = (target: Bar["target"]): number => ("atLeast" in target ? target.atLeast : target.atMost);

const text = (x: number, y: number, content: string, attributes = "") =>
  `<text x="${x}" y="${y}" ${attributes}>${content.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</text>`;
