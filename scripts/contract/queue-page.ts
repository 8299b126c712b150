import { marked } from "marked";
import { follow } from "../../src/contract/operations.ts";
import { escapeHtml, htmlPage, scrollBox } from "../../src/http/documents/page.ts";
import { renderTable } from "../../src/http/documents/tables.ts";
import { publishing, receiving, type Snippet, withMessage } from "./snippets.ts";

// biome-ignore lint/suspicious/noExplicitAny: An AsyncAPI document that the linter has checked.
type Node = any;

const code = (text: unknown) => `<code>${escapeHtml(text)}</code>`;
const prose = (text = "") => marked.parse(text, { async: false }).trim();
const inline = (text: string) => marked.parseInline(text, { async: false }).trim();
const nameOf = (pointer: string) => pointer.split("/").at(-1) as string;

const codeBlock = (text: string) => scrollBox(`<pre><code>${escapeHtml(text)}</code></pre>`);

/** Renders the contract of the queue and of what is sent as a page: an AsyncAPI document that refers to its own components only. */
export function renderQueue(contract: Node): string {
  const { info, operations, components } = contract;
  const [{ payload: event }] = Object.values<Node>(components.messages)[0].examples;
  const page = [
    `<h1>${escapeHtml(info.title)} ${escapeHtml(info.version)}</h1>`,
    prose(info.description),
    '<h2 id="publish">Publish a message</h2>',
    ...Object.keys(publishing).map((kind) => renderPublishing(kind, event)),
    '<h2 id="receive">Receive a webhook</h2>',
    prose(receiving.introduction),
    ...receiving.snippets.flatMap(renderSnippet),
    ...Object.entries<Node>(operations).flatMap(([id, operation]) =>
      renderOperation(contract, id, operation),
    ),
    ...renderEventTypes(contract["x-event-types"]),
    '<h2 id="schemas">Schemas</h2>',
    ...Object.entries<Node>(components.schemas)
      .toReversed()
      .flatMap(([name, schema]) => renderSchema(name, schema)),
  ].filter((part) => part !== "");
  return htmlPage({
    title: `${info.title} ${info.version}`,
    root: "../",
    links: [
      ["../docs", "Contract of the ledger"],
      ["../asyncapi.yaml", "AsyncAPI as YAML"],
    ],
    content: `<div class="with-contents">\n${contents(page)}\n<article>\n${page.join("\n")}\n</article>\n</div>`,
  });
}

function renderOperation(contract: Node, id: string, operation: Node): string[] {
  const { action, title, summary, description } = operation;
  const channel = follow(contract, operation.channel) as Node;
  const all = (references: Node[]) => references.map((one): Node => follow(contract, one));
  return [
    `<h2 id="${id}">Operation ${code(id)}: ${escapeHtml(title)}</h2>`,
    `<p>The ledger's action is ${code(action)}. ${escapeHtml(summary)}</p>`,
    prose(description),
    `<h3 id="${nameOf(operation.channel.$ref)}">Channel ${code(channel.address)}: ${escapeHtml(channel.title)}</h3>`,
    prose(channel.description),
    ...all(channel.servers).flatMap(({ protocol, host, pathname = "", description, security = [] }) => [
      `<h4>Server ${code(`${protocol}://${host}${pathname}`)}</h4>`,
      prose(description),
      ...all(security).map(
        (scheme) => `<p>Security ${code(scheme.scheme ?? scheme.type)}. ${inline(scheme.description)}</p>`,
      ),
    ]),
    // Those of the channel, since those of an operation refer to them.
    ...all(Object.values(channel.messages)).flatMap((message) => renderMessage(contract, message)),
  ];
}

function renderMessage(contract: Node, message: Node): string[] {
  const { name, title, summary, contentType, headers, payload, correlationId, examples } = message;
  const { location, description } = correlationId ? (follow(contract, correlationId) as Node) : {};
  return [
    `<h3 id="message-${name}">Message ${code(name)}: ${escapeHtml(title)}</h3>`,
    `<p>${inline(summary)} ${code(contentType)}, ${typeOf(payload)}${headers ? `, with ${typeOf(headers)}` : ""}.</p>`,
    location ? `<p>Correlation id ${code(location)}. ${inline(description)}</p>` : "",
    ...examples.map(({ summary, headers, payload }: Node) => {
      const texts = [headers, payload].filter(Boolean).map((part) => JSON.stringify(part, null, 2));
      return `<details><summary>${escapeHtml(summary)}</summary>${texts.map(codeBlock).join("\n")}</details>`;
    }),
  ];
}

function renderEventTypes({ description, ...tables }: Node): string[] {
  return [
    `<h2 id="event-types">Event types</h2>`,
    prose(description),
    ...Object.entries<Node>(tables).flatMap(([resourceType, table]) => [
      `<h3 id="event-types-${resourceType}">Resource type ${code(resourceType)}</h3>`,
      prose(table.description),
      renderTable(
        table.rows.map(({ event_type, description, state = "none", details = [] }: Node) => ({
          event_type,
          description,
          state,
          details,
        })),
      ),
    ]),
  ];
}

/** Links to the headings that have an id, without their explanations. */
function contents(page: string[]): string {
  const headings = page.map((part) => /^<h(\d) id="([^"]*)">(.*?)(?:: .*)?<\/h\d>$/.exec(part));
  const links = headings
    .filter((heading) => heading !== null)
    .map(([, level, id, title]) => `<li class="level-${level}"><a href="#${id}">${title}</a></li>`);
  return `<nav class="contents" aria-label="Contents">\n<ul>\n${links.join("\n")}\n</ul>\n</nav>`;
}

/** How to publish an event to one kind of queue. The service shows the section of its own kind. */
function renderPublishing(kind: string, event: Node): string {
  const { introduction, snippets } = publishing[kind] as (typeof publishing)[string];
  const programs = snippets.flatMap((snippet) =>
    renderSnippet({ ...snippet, program: withMessage(snippet.program, event) }),
  );
  const { resource_external_id: id, event_details: details } = event;
  const request = `GET /v1/transaction/${id}?account_id=${details.gateway_account_id}`;
  const result = `<p>Then ${code(request)} returns the payment.</p>`;
  return `<section data-kind="${kind}">\n${[prose(introduction), ...programs, result].join("\n")}\n</section>`;
}

const renderSnippet = ({ language, requires, program }: Snippet): string[] => [
  `<h3>${language}</h3>`,
  prose(requires),
  codeBlock(program),
];

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
      ? [
          scrollBox(
            ["<table>", "<tr><th>member</th><th>type</th><th>meaning</th></tr>", ...rows, "</table>"].join(
              "\n",
            ),
          ),
        ]
      : []),
  ];
}

/** Describes in words the values that a schema allows. */
function typeOf(schema: Node): string {
  if (schema.$ref) return `<a href="#${nameOf(schema.$ref)}">${escapeHtml(nameOf(schema.$ref))}</a>`;
  if (schema.allOf) return schema.allOf.map(typeOf).join(", and ");
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (alternatives) return alternatives.map(typeOf).join("; or ");
  const { type = "anything", enum: values, format, pattern, minLength, maxLength, minimum, maximum } = schema;
  const without = schema["x-excluded-characters"];
  const limits = { format, pattern, without, minLength, maxLength, minimum, maximum };
  return [
    [type].flat().join(" or "),
    ...(values ? [`one of ${values.map((value: unknown) => code(JSON.stringify(value))).join(", ")}`] : []),
    ...Object.entries(limits)
      .filter(([, limit]) => limit !== undefined)
      .map(([name, limit]) => `${name} ${code(limit)}`),
  ].join(", ");
}
