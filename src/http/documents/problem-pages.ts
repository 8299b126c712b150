import type { Contract } from "../../contract/operations.ts";
import { STATUS_CODES } from "../node-http.ts";
import { problemsPath } from "../problem.ts";
import { escapeHtml, htmlPage, prose, scrollBox } from "./page.ts";

/** A kind of problem in a contract (`x-problems`). */
export interface ProblemKind {
  status: number;
  title: string;
  description: string;
  advice: string;
  /** A problem document. */
  example: object;
}

export const kindsOf = (contract: Contract) => (contract["x-problems"] ?? {}) as Record<string, ProblemKind>;

export const problemNames = (contract: Contract): string[] => Object.keys(kindsOf(contract));

/** The page that lists the kinds of problems of a contract. */
export function problemList(contract: Contract): string {
  const rows = Object.entries(kindsOf(contract)).map(
    ([name, { status, title }]) =>
      `<tr><td>${status}</td><td><a href="problems/${name}"><code>${problemsPath}${name}</code></a></td>` +
      `<td>${escapeHtml(title)}</td></tr>`,
  );
  return htmlPage({
    title: `Problems – ${contract.info.title}`,
    links: [["docs", "Contract"]],
    content: `<article>
<h1>Problems</h1>
<p>The <code>type</code> of a problem document (RFC 9457) is one of these. It is the address of a page about the problem.</p>
${scrollBox(`<table>
<tr><th scope="col">Status</th><th scope="col">Type</th><th scope="col">What happened</th></tr>
${rows.join("\n")}
</table>`)}
</article>`,
  });
}

/** The page of a kind of problem: what happened, what to do, and an example. */
export function problemPage(contract: Contract, name: string): string {
  const { status, title, description, advice, example } = kindsOf(contract)[name] as ProblemKind;
  return htmlPage({
    title: `${title} – ${contract.info.title}`,
    root: "../",
    links: [
      ["../problems", "All problems"],
      ["../docs", "Contract"],
    ],
    content: `<article>
<h1>${escapeHtml(title)}</h1>
<p><code>${problemsPath}${name}</code>, status ${status} ${STATUS_CODES[status]}</p>
<p>${prose(description)}</p>
<h2>What to do</h2>
<p>${prose(advice)}</p>
<h2>Example</h2>
${scrollBox(`<pre><code>${escapeHtml(JSON.stringify(example, null, 2))}</code></pre>`)}
</article>`,
  });
}
