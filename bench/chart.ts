import type { Results } from "./results.ts";
import type { Result } from "./rounds.ts";

const width = 860;
const labelWidth = 385;
const lineHeight = 20;
const barHeight = 12;
const right = width - 60;

/** A comparison that is drawn, and from where down. */
interface Bar extends Result {
  ratio: NonNullable<Result["ratio"]>;
  target: NonNullable<Result["target"]>;
  y: number;
}

/**
 * The ratios of all comparisons that have something to reach as a drawing (SVG): bars, with how far the rounds were
 * apart, and what is to be reached.
 */
export function chartOf({ rows }: Results): string {
  let y = 10;
  const line = () => (y += lineHeight);
  const drawn = Object.entries({
    atLeast: "How fast, the baseline is 1: more is better",
    atMost: "How much more it takes, the baseline is 1: less is better",
  }).flatMap(([direction, title]) => {
    const shown = rows
      .map(({ results, ...row }) => ({
        ...row,
        results: results.filter(isDrawn).filter(({ target }) => direction in target),
      }))
      .filter(({ results }) => results.length > 0);
    if (shown.length === 0) return [];
    const labels = [text(10, line(), title, 'font-weight="bold" font-size="14"')];
    const top = y;
    const bars: Bar[] = [];
    for (const { number, work, results } of shown) {
      labels.push(text(10, line(), `${number}. ${work}`));
      for (const result of results) bars.push({ ...result, y: line() });
    }
    line();
    return [...labels, ...drawBars(bars, top)];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" font-family="sans-serif" font-size="12">`,
    "<title>Figures of the services beside their baselines</title>",
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    ...drawn,
    "</svg>\n",
  ].join("\n");
}

const isDrawn = (result: Result): result is Omit<Bar, "y"> =>
  result.ratio !== undefined && result.target !== undefined;

function drawBars(bars: Bar[], top: number): string[] {
  const most = Math.max(1, ...bars.flatMap(({ ratio, target }) => [ratio.median, aimOf(target)]));
  const x = (value: number) => labelWidth + ((right - labelWidth) * Math.min(value, most)) / most;
  const bottom = Math.max(...bars.map(({ y }) => y + 4));
  return [
    `<line x1="${x(1)}" x2="${x(1)}" y1="${top + 6}" y2="${bottom}" stroke="#888" stroke-dasharray="3 3"/>`,
    ...bars.flatMap(({ name, ratio, target, reached, y }) => {
      const barTop = y - 10;
      const middle = barTop + barHeight / 2;
      const aim = x(aimOf(target));
      return [
        text(labelWidth - 8, y, name, 'text-anchor="end"'),
        `<rect x="${labelWidth}" y="${barTop}" width="${x(ratio.median) - labelWidth}" height="${barHeight}" fill="${reached ? "#2f7d5b" : "#c98a2b"}"/>`,
        `<line x1="${x(ratio.least)}" x2="${x(ratio.most)}" y1="${middle}" y2="${middle}" stroke="#222"/>`,
        `<line x1="${aim}" x2="${aim}" y1="${barTop - 3}" y2="${barTop + barHeight + 3}" stroke="#b00020" stroke-width="2"/>`,
        text(right + 8, y, ratio.median.toFixed(2)),
      ];
    }),
  ];
}

const aimOf = (target: Bar["target"]): number => ("atLeast" in target ? target.atLeast : target.atMost);

const text = (x: number, y: number, words: string, attributes = "") =>
  `<text x="${x}" y="${y}" ${attributes}>${words.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</text>`;
