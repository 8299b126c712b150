import { type Contract, queryKey } from "../../contract/operations.ts";
import { escapeHtml, prose, scrollBox } from "./page.ts";

type Row = Record<string, unknown>;
interface Table {
  description?: string;
  rows?: Row[];
}

/** The extensions of a contract that are no tables. */
const others = ["x-problems", "x-general-responses", "x-webhooks"];

/** The tables in the extensions (`x-…`) of a contract, as HTML. Swagger UI does not render them. */
export function tablesOf(contract: Contract): string {
  const own = Object.entries(contract).filter(([name]) => name.startsWith("x-") && !others.includes(name));
  return [...queriesOf(contract), ...own]
    .map(([name, tables]) => article(name, tables as Record<string, unknown>))
    .join("\n");
}

/** The operations with the method QUERY, which Swagger UI does not know. */
function queriesOf({ paths }: Contract): [string, object][] {
  const rows = Object.entries(paths).flatMap(([path, { [queryKey]: query }]) => {
    const { operationId: operation, "x-query-of": same_as } = (query ?? {}) as Record<string, string>;
    return operation === undefined ? [] : [{ path, operation, same_as }];
  });
  const description = `Operations with the method QUERY (RFC 10008), each beside one that means the same. The body is that of the
POST, or has the query parameters of the GET as its members. \`/openapi-3.2.yaml\` has them among the other operations.`;
  return rows.length > 0 ? [[queryKey, { description, operations: { rows } }]] : [];
}

function article(name: string, { description, ...members }: Record<string, unknown>): string {
  const all = Object.entries(members);
  const values = all.filter(([, member]) => typeof member !== "object");
  const parts = (all as [string, Table][]).flatMap(([title, { rows, description }]) =>
    rows ? [`<h3>${escapeHtml(title)}</h3>`, `<p>${prose(description)}</p>`, renderTable(rows)] : [],
  );
  const heading = [`<h2>${escapeHtml(name)}</h2>`, `<p>${prose(description)}</p>`];
  const own = values.length > 0 ? [renderTable([Object.fromEntries(values)])] : [];
  return `<article id="${escapeHtml(name)}">\n${[...heading, ...own, ...parts].join("\n")}\n</article>`;
}

/** A table with a column for each member of the rows. Lists are lists of names. */
export function renderTable(rows: Row[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const line = (cells: string[]) => `<tr>${cells.join("")}</tr>`;
  const lines = [
    line(columns.map((column) => `<th scope="col">${escapeHtml(column)}</th>`)),
    ...rows.map((row) => line(columns.map((column) => `<td>${cell(row[column])}</td>`))),
  ];
  return scrollBox(`<table>\n${lines.join("\n")}\n</table>`);
}

const cell = (value: unknown): string =>
  prose(Array.isArray(value) ? value.map((name) => `\`${name}\``).join(", ") : value);
