import { blocks, fenced, oneLine } from "../../src/http/documents/markdown.ts";
import { publishing, withMessage } from "./snippets.ts";

// biome-ignore lint/suspicious/noExplicitAny: An AsyncAPI document that the linter has checked.
type Node = any;

/** Renders the contract of a queue as Markdown, as `renderQueue` renders it as a page. */
export function queueMarkdown(contract: Node): string {
  const { info, servers, channels, operations, components } = contract;
  const messages = Object.values<Node>(components.messages);
  const [{ payload: event }] = messages[0].examples;
  return blocks(
    `# ${info.title} ${info.version}`,
    info.description,
    "## Publish a message",
    ...Object.keys(publishing).map((kind) => publishingIn(kind, event)),
    ...Object.values<Node>(channels).flatMap(({ title, address, description }) => [
      `## Channel \`${address}\`: ${title}`,
      description,
    ]),
    ...Object.values<Node>(servers).flatMap(({ protocol, host, pathname = "", description }) => [
      `### Server \`${protocol}://${host}${pathname}\``,
      description,
    ]),
    ...Object.entries<Node>(operations).flatMap(([id, { action, title, summary, description }]) => [
      `## Operation \`${id}\`: ${title}`,
      `The ledger's action is \`${action}\`. ${summary}`,
      description,
    ]),
    ...messages.flatMap(({ name, title, summary, contentType, payload, examples }) => [
      `## Message \`${name}\`: ${title}`,
      `${summary} \`${contentType}\`, ${typeOf(payload)}.`,
      ...examples.flatMap((example: Node) => [
        `${example.summary}:`,
        fenced(JSON.stringify(example.payload, null, 2), "json"),
      ]),
    ]),
    "## Event types",
    ...eventTypesIn(contract["x-event-types"]),
    "## Schemas",
    ...Object.entries<Node>(components.schemas)
      .toReversed()
      .flatMap(([name, schema]) => schemaIn(name, schema)),
  );
}

/** The service keeps the section of the kind of its queue, by these lines. */
function publishingIn(kind: string, event: Node): string {
  const { introduction, snippets } = publishing[kind] as (typeof publishing)[string];
  const { resource_external_id: id, event_details: details } = event;
  const programs = snippets.flatMap(({ language, requires, program }) => [
    `### ${language}`,
    requires,
    fenced(withMessage(program, event), language.toLowerCase()),
  ]);
  const request = `GET /v1/transaction/${id}?account_id=${details.gateway_account_id}`;
  const section = blocks(introduction, ...programs, `Then \`${request}\` returns the payment.`);
  return `<section data-kind="${kind}">\n\n${section}</section>\n`;
}

function eventTypesIn({ description, ...tables }: Node): string[] {
  return [
    description,
    ...Object.entries<Node>(tables).flatMap(([resourceType, { description, rows }]) => [
      `### Resource type \`${resourceType}\``,
      description,
      rows
        .map(
          ({ event_type, description, state = "none", details = [] }: Node) =>
            `- \`${event_type}\`, state \`${state}\`: ${oneLine(description)}${details.length > 0 ? ` Details: ${details.map(code).join(", ")}.` : ""}`,
        )
        .join("\n"),
    ]),
  ];
}

function schemaIn(name: string, schema: Node): string[] {
  const { description, properties = {}, required = [] } = schema;
  const members = Object.entries<Node>(properties).map(
    ([member, one]) =>
      `- \`${member}\` (${required.includes(member) ? "required, " : ""}${typeOf(one)}): ${oneLine(one.description)}`,
  );
  return [`### ${name}`, description, typeOf(schema), members.join("\n")];
}

const code = (value: unknown) => `\`${value}\``;

/** Describes in words the values that a schema allows. */
function typeOf(schema: Node): string {
  if (schema.$ref) return code(schema.$ref.split("/").at(-1));
  if (schema.allOf) return schema.allOf.map(typeOf).join(", and ");
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (alternatives) return alternatives.map(typeOf).join("; or ");
  const { type = "anything", enum: values, format, maxLength } = schema;
  return [
    [type].flat().join(" or "),
    ...(values ? [`one of ${values.map(code).join(", ")}`] : []),
    ...(format ? [`format ${code(format)}`] : []),
    ...(maxLength ? [`up to ${maxLength} characters`] : []),
  ].join(", ");
}
