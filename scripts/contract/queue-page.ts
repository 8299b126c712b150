import { follow } from "../../src/contract/operations.ts";
import { htmlPage } from "../../src/http/documents/page.ts";
import { type Block, contentsOf, inCode, toHtml, toMarkdown } from "./page-blocks.ts";
import { publishing, receiving, type Snippet, withMessage } from "./snippets.ts";

// biome-ignore lint/suspicious/noExplicitAny: An AsyncAPI document that the linter has checked.
type Node = any;

const nameOf = (pointer: string) => pointer.split("/").at(-1) as string;

/** The contract of the queue and of what is sent as a page, in HTML and in Markdown. Its references lead to its own components. */
export function renderQueue(contract: Node): { html: string; markdown: string } {
  const blocks = queueBlocks(contract);
  const { title, version } = contract.info;
  const html = htmlPage({
    title: `${title} ${version}`,
    root: "../",
    links: [
      ["../docs", "Contract of the ledger"],
      ["../asyncapi.yaml", "AsyncAPI as YAML"],
    ],
    content: `<div class="with-contents">\n${contentsOf(blocks)}\n<article>\n${toHtml(blocks)}\n</article>\n</div>`,
  });
  return { html, markdown: toMarkdown(blocks) };
}

function queueBlocks(contract: Node): Block[] {
  const { info, operations, components } = contract;
  const [{ payload: event }] = Object.values<Node>(components.messages)[0].examples;
  return [
    { level: 1, heading: `${info.title} ${info.version}` },
    { prose: info.description },
    { level: 2, heading: "Publish a message", id: "publish" },
    ...Object.keys(publishing).map((kind) => publishingBlock(kind, event)),
    { level: 2, heading: "Receive a webhook", id: "receive" },
    { prose: receiving.introduction },
    ...receiving.snippets.flatMap(snippetBlocks),
    ...Object.entries<Node>(operations).flatMap(([id, operation]) =>
      operationBlocks(contract, id, operation),
    ),
    ...eventTypeBlocks(contract["x-event-types"]),
    { level: 2, heading: "Schemas", id: "schemas" },
    ...Object.entries<Node>(components.schemas)
      .toReversed()
      .flatMap(([name, schema]) => schemaBlocks(name, schema)),
  ];
}

function operationBlocks(contract: Node, id: string, operation: Node): Block[] {
  const { action, title, summary, description } = operation;
  const channel = follow(contract, operation.channel) as Node;
  const all = (references: Node[]) => references.map((one): Node => follow(contract, one));
  return [
    { level: 2, heading: `Operation ${inCode(id)}`, explanation: title, id },
    { prose: `The ledger's action is ${inCode(action)}. ${summary}` },
    { prose: description },
    {
      ...{ level: 3, heading: `Channel ${inCode(channel.address)}`, explanation: channel.title },
      id: nameOf(operation.channel.$ref),
    },
    { prose: channel.description },
    ...all(channel.servers).flatMap(
      ({ protocol, host, pathname = "", description, security = [] }): Block[] => [
        { level: 4, heading: `Server ${inCode(`${protocol}://${host}${pathname}`)}` },
        { prose: description },
        ...all(security).map(({ scheme, type, description }) => ({
          prose: `Security ${inCode(scheme ?? type)}. ${description}`,
        })),
      ],
    ),
    // Those of the channel, since those of an operation refer to them.
    ...all(Object.values(channel.messages)).flatMap((message) => messageBlocks(contract, message)),
  ];
}

function messageBlocks(contract: Node, message: Node): Block[] {
  const { name, title, summary, contentType, headers, payload, correlationId, examples } = message;
  const types = [payload, headers].filter(Boolean).map(typeOf).join(", with ");
  const { location, description } = correlationId ? (follow(contract, correlationId) as Node) : {};
  return [
    { level: 3, heading: `Message ${inCode(name)}`, explanation: title, id: `message-${name}` },
    { prose: `${summary} ${inCode(contentType)}, ${types}.` },
    ...(location ? [{ prose: `Correlation id ${inCode(location)}. ${description}` }] : []),
    ...examples.map(({ summary, headers, payload }: Node) => ({
      summary,
      texts: [headers, payload].filter(Boolean).map((part) => JSON.stringify(part, null, 2)),
    })),
  ];
}

function eventTypeBlocks({ description, ...tables }: Node): Block[] {
  return [
    { level: 2, heading: "Event types", id: "event-types" },
    { prose: description },
    ...Object.entries<Node>(tables).flatMap(([resourceType, table]): Block[] => [
      { level: 3, heading: `Resource type ${inCode(resourceType)}`, id: `event-types-${resourceType}` },
      { prose: table.description },
      {
        eventTypes: table.rows.map(({ event_type, description, state = "none", details = [] }: Node) => ({
          event_type,
          description,
          state,
          details,
        })),
      },
    ]),
  ];
}

/** How to publish an event to one kind of queue. The service shows the section of its own kind. */
function publishingBlock(kind: string, event: Node): Block {
  const { introduction, snippets } = publishing[kind] as (typeof publishing)[string];
  const { resource_external_id: id, event_details: details } = event;
  const request = `GET /v1/transaction/${id}?account_id=${details.gateway_account_id}`;
  const blocks = [
    { prose: introduction },
    ...snippets.flatMap((snippet) =>
      snippetBlocks({ ...snippet, program: withMessage(snippet.program, event) }),
    ),
    { prose: `Then ${inCode(request)} returns the payment.` },
  ];
  return { kind, blocks };
}

const snippetBlocks = ({ language, requires, program }: Snippet): Block[] => [
  { level: 3, heading: language },
  { prose: requires },
  { code: program, language: language.toLowerCase() },
];

function schemaBlocks(schemaName: string, schema: Node): Block[] {
  const { description, properties = {}, required = [] } = schema;
  const members = Object.entries<Node>(properties).map(([name, member]) => ({
    name,
    isRequired: required.includes(name),
    type: typeOf(member),
    description: member.description,
  }));
  return [
    { level: 3, heading: schemaName, id: schemaName },
    { prose: description },
    { prose: typeOf(schema) },
    { members },
  ];
}

/** Describes the values that a schema allows, in words and in Markdown. */
function typeOf(schema: Node): string {
  if (schema.$ref) return `[${nameOf(schema.$ref)}](#${nameOf(schema.$ref)})`;
  if (schema.allOf) return schema.allOf.map(typeOf).join(", and ");
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (alternatives) return alternatives.map(typeOf).join("; or ");
  const { type = "anything", enum: values, format, pattern, minLength, maxLength, minimum, maximum } = schema;
  const without = schema["x-excluded-characters"];
  const limits = { format, pattern, without, minLength, maxLength, minimum, maximum };
  return [
    [type].flat().join(" or "),
    ...(values ? [`one of ${values.map((value: unknown) => inCode(JSON.stringify(value))).join(", ")}`] : []),
    ...Object.entries(limits)
      .filter(([, limit]) => limit !== undefined)
      .map(([name, limit]) => `${name} ${inCode(limit)}`),
  ].join(", ");
}
