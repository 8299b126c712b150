import type { Results } from "./results.ts";
import type { Result } from "./rounds.ts";

const width = 860;
const labelWidth = 400;
const lineHeight = 22;
const barHeight = 12;
const right = width - 60;

/** The ratios of all comparisons as a drawing (SVG): bars, with how far the rounds were apart, beside what is to be reached. */
export function chartOf({ rows }: Results): string {
  const lines = rows.flatMap(({ number, results }) =>
    results.filter(({ ratio }) => ratio).map((result) => ({ label: `${number}. ${result.name}`, ...result })),
  );
  const groups = [
    [
      "How fast, the baseline is 1: more is better",
      lines.filter(({ target }) => target && "atLeast" in target),
    ],
    [
      "How much more it takes, the baseline is 1: less is better",
      lines.filter(({ target }) => target && "atMost" in target),
    ],
  ] as const;
  let y = 0;
  const drawn = groups.flatMap(([title, members]) => {
    const top = y + 30;
    y = top + 14 + members.length * lineHeight;
    return drawGroup(title, members, top);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 10}" font-family="sans-serif" font-size="12">`,
    "<title>Figures of the services beside their baselines</title>",
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    ...drawn,
    "</svg>\n",
  ].join("\n");
}

function drawGroup(title: string, members: readonly (Result & { label: string })[], top: number): string[] {
  const most = Math.max(1, ...members.flatMap(({ ratio, target }) => [ratio?.median ?? 0, aimOf(target)]));
  const x = (value: number) => labelWidth + ((right - labelWidth) * Math.min(value, most)) / most;
  const bottom = top + 10 + members.length * lineHeight;
  return [
    text(10, top, title, 'font-weight="bold"'),
    `<line x1="${x(1)}" x2="${x(1)}" y1="${top + 6}" y2="${bottom}" stroke="#888" stroke-dasharray="3 3"/>`,
    ...members.flatMap(({ label, ratio, target, reached }, index) => {
      if (!ratio) return [];
      const y = top + 12 + index * lineHeight;
      const middle = y + barHeight / 2;
      const aim = x(aimOf(target));
      return [
        text(labelWidth - 8, y + 10, label, 'text-anchor="end"'),
        `<rect x="${labelWidth}" y="${y}" width="${x(ratio.median) - labelWidth}" height="${barHeight}" fill="${reached ? "#2f7d5b" : "#c98a2b"}"/>`,
        `<line x1="${x(ratio.least)}" x2="${x(ratio.most)}" y1="${middle}" y2="${middle}" stroke="#222"/>`,
        `<line x1="${aim}" x2="${aim}" y1="${y - 3}" y2="${y + barHeight + 3}" stroke="#b00020" stroke-width="2"/>`,
        text(right + 8, y + 10, ratio.median.toFixed(2)),
      ];
    }),
  ];
}

const aimOf = (target: Result["target"]): number =>
  target === undefined ? 0 : "atLeast" in target ? target.atLeast : target.atMost;

const text = (x: number, y: number, words: string, attributes = "") =>
  `<text x="${x}" y="${y}" ${attributes}>${words.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</text>`;
