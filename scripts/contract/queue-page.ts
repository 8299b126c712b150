import { marked } from "marked";
import { escapeHtml, htmlPage } from "../../src/http/docs/page.ts";
import { renderTable } from "../../src/http/docs/tables.ts";

// biome-ignore lint/suspicious/noExplicitAny: An AsyncAPI document that the linter has checked.
type Node = any;

const code = (text: unknown) => `<code>${escapeHtml(text)}</code>`;
const prose = (text = "") => marked.parse(text, { async: false }).trim();
const nameOf = (pointer: string) => pointer.split("/").at(-1) as string;

/** Renders the contract of a queue as a page. It is an AsyncAPI 3 document that refers to its own components only. */
export function renderQueue(contract: Node): string {
  const { info, servers, channels, operations, components } = contract;
  const page = [
    `<h1>${escapeHtml(info.title)} ${escapeHtml(info.version)}</h1>`,
    prose(info.description),
    ...Object.entries<Node>(channels).flatMap(([name, { title, address, description }]) => [
      `<h2 id="${name}">Channel ${code(address)}: ${escapeHtml(title)}</h2>`,
      prose(description),
    ]),
    ...Object.values<Node>(servers).flatMap(({ protocol, host, pathname = "", description }) => [
      `<h3>Server ${code(`${protocol}://${host}${pathname}`)}</h3>`,
      prose(description),
    ]),
    ...Object.entries<Node>(operations).flatMap(([id, { action, title, summary, description }]) => [
      `<h2 id="${id}">Operation ${code(id)}: ${escapeHtml(title)}</h2>`,
      `<p>The ledger's action is ${code(action)}. ${escapeHtml(summary)}</p>`,
      prose(description),
    ]),
    ...Object.values<Node>(components.messages).flatMap(
      ({ name, title, summary, contentType, payload, examples }) => [
        `<h2 id="${name}">Message ${code(name)}: ${escapeHtml(title)}</h2>`,
        `<p>${escapeHtml(summary)} ${code(contentType)}, ${typeOf(payload)}.</p>`,
        ...examples.map(
          (example: Node) =>
            `<details><summary>${escapeHtml(example.summary)}</summary><pre>${escapeHtml(JSON.stringify(example.payload, null, 2))}</pre></details>`,
        ),
      ],
    ),
    ...renderEventTypes(contract["x-event-types"]),
    "<h2>Schemas</h2>",
    ...Object.entries<Node>(components.schemas)
      .toReversed()
      .flatMap(([name, schema]) => renderSchema(name, schema)),
  ];
  return htmlPage({
    title: `${info.title} ${info.version}`,
    links: [
      ["/docs", "Contract of the ledger"],
      ["/asyncapi.yaml", "AsyncAPI as YAML"],
    ],
    content: `<article>\n${page.filter((part) => part !== "").join("\n")}\n</article>`,
  });
}

function renderEventTypes({ description, ...tables }: Node): string[] {
  return [
    `<h2 id="event-types">Event types</h2>`,
    prose(description),
    ...Object.entries<Node>(tables).flatMap(([resourceType, table]) => [
      `<h3 id="event-types-${resourceType}">Resource type ${code(resourceType)}</h3>`,
      prose(table.description),
      renderTable(
        table.rows.map(({ event_type, state = "none", details = [] }: Node) => ({
          event_type,
          state,
          details,
        })),
      ),
    ]),
  ];
}

function renderSchema(schemaName: string, schema: Node): string[] {
  const { description, properties = {}, required = [] } = schema;
  const rows = Object.entries<Node>(properties).map(
    ([name, member]) =>
      `<tr><td>${code(name)}${required.includes(name) ? "<br>required" : ""}</td><td>${typeOf(member)}</td><td>${prose(member.description)}</td></tr>`,
  );
  return [
    `<h3 id="${schemaName}">${escapeHtml(schemaName)}</h3>`,
    prose(description),
    `<p>${typeOf(schema)}</p>`,
    ...(rows.length > 0
      ? ["<table><tr><th>member</th><th>type</th><th>meaning</th></tr>", ...rows, "</table>"]
      : []),
  ];
}

/** Describes in words the values that a schema allows. */
function typeOf(schema: Node): string {
  if (schema.$ref) return `<a href="#${nameOf(schema.$ref)}">${escapeHtml(nameOf(schema.$ref))}</a>`;
  if (schema.allOf) return schema.allOf.map(typeOf).join(", and ");
  if (schema.anyOf) return schema.anyOf.map(typeOf).join("; or ");
  const { type = "anything", enum: values, format, pattern, minLength, maxLength, minimum, maximum } = schema;
  const limits = { format, pattern, minLength, maxLength, minimum, maximum };
  return [
    [type].flat().join(" or "),
    ...(values ? [`one of ${values.map((value: unknown) => code(JSON.stringify(value))).join(", ")}`] : []),
    ...Object.entries(limits)
      .filter(([, limit]) => limit !== undefined)
      .map(([name, limit]) => `${name} ${code(limit)}`),
  ].join(", ");
}
