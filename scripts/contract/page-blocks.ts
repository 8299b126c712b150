import { marked } from "marked";
import { fenced, blocks as markdownOf, oneLine } from "../../src/http/documents/markdown.ts";
import { escapeHtml, scrollBox } from "../../src/http/documents/page.ts";
import { renderTable } from "../../src/http/documents/tables.ts";

/** A part of a page. Its texts are Markdown, and its code is as it is. */
export type Block =
  | Heading
  | { prose: string | undefined }
  | { code: string; language: string }
  /** An example: JSON texts that a reader unfolds. */
  | { summary: string; texts: string[] }
  | { eventTypes: EventType[] }
  | { members: Member[] }
  /** A section that a service shows if its queue has this kind. */
  | { kind: string; blocks: Block[] };

interface Heading {
  level: number;
  heading: string;
  /** What follows the heading after a colon, and is not in the contents. */
  explanation?: string;
  /** The contents lead to a heading with an id. */
  id?: string;
}

const inline = (text: string) => marked.parseInline(text, { async: false }).trim();
const prose = (text = "") => marked.parse(text, { async: false }).trim();
const codeBlock = (text: string) => scrollBox(`<pre><code>${escapeHtml(text)}</code></pre>`);

interface EventType {
  event_type: string;
  description: string;
  state: string;
  /** Names of members. */
  details: string[];
}

/** A member of a schema. */
interface Member {
  name: string;
  isRequired: boolean;
  type: string;
  description: string;
}

/** Text as code in Markdown. */
export const inCode = (text: unknown): string => `\`${text}\``;

const explained = ({ heading, explanation }: Heading) =>
  explanation === undefined ? heading : `${heading}: ${explanation}`;

/** Blocks as HTML. */
export const toHtml = (blocks: Block[]): string =>
  blocks
    .map(blockAsHtml)
    .filter((part) => part !== "")
    .join("\n");

function blockAsHtml(block: Block): string {
  if ("heading" in block) {
    const { level, id } = block;
    return `<h${level}${id === undefined ? "" : ` id="${id}"`}>${inline(explained(block))}</h${level}>`;
  }
  if ("prose" in block) return prose(block.prose);
  if ("code" in block) return codeBlock(block.code);
  if ("texts" in block)
    return `<details><summary>${escapeHtml(block.summary)}</summary>${block.texts.map(codeBlock).join("\n")}</details>`;
  if ("eventTypes" in block) return renderTable(block.eventTypes.map((one) => ({ ...one })));
  if ("members" in block) return block.members.length > 0 ? memberTable(block.members) : "";
  return `<section data-kind="${block.kind}">\n${toHtml(block.blocks)}\n</section>`;
}

function memberTable(members: Member[]): string {
  const rows = members.map(
    ({ name, isRequired, type, description }) =>
      `<tr><td>${inline(inCode(name))}${isRequired ? "<br>required" : ""}</td><td>${inline(type)}</td><td>${prose(description)}</td></tr>`,
  );
  const head = "<tr><th>member</th><th>type</th><th>meaning</th></tr>";
  return scrollBox(["<table>", head, ...rows, "</table>"].join("\n"));
}

/** Links to the headings that have an id, as HTML. */
export function contentsOf(blocks: Block[]): string {
  const links = blocks.flatMap((block) =>
    "heading" in block && block.id !== undefined
      ? [`<li class="level-${block.level}"><a href="#${block.id}">${inline(block.heading)}</a></li>`]
      : [],
  );
  return `<nav class="contents" aria-label="Contents">\n<ul>\n${links.join("\n")}\n</ul>\n</nav>`;
}

/** Blocks as Markdown. */
export const toMarkdown = (blocks: Block[]): string => markdownOf(...blocks.map(blockAsMarkdown));

function blockAsMarkdown(block: Block): string {
  if ("heading" in block) return `${"#".repeat(block.level)} ${explained(block)}`;
  if ("prose" in block) return withAnchors(block.prose ?? "");
  if ("code" in block) return fenced(block.code, block.language);
  if ("texts" in block)
    return markdownOf(`${block.summary}:`, ...block.texts.map((text) => fenced(text, "json")));
  if ("eventTypes" in block) return block.eventTypes.map(eventTypeLine).join("\n");
  if ("members" in block) return block.members.map(memberLine).join("\n");
  return `<section data-kind="${block.kind}">\n\n${toMarkdown(block.blocks)}</section>\n`;
}

function eventTypeLine({ event_type, description, state, details }: EventType): string {
  const members = details.length > 0 ? ` Details: ${details.map(inCode).join(", ")}.` : "";
  return `- ${inCode(event_type)}, state ${inCode(state)}: ${oneLine(description)}${members}`;
}

const memberLine = ({ name, isRequired, type, description }: Member): string =>
  `- ${inCode(name)} (${isRequired ? "required, " : ""}${withAnchors(type)}): ${oneLine(description)}`;

/** A heading has no id in Markdown. Its anchor is its text in lower case. */
const withAnchors = (text: string): string =>
  text.replaceAll(/\]\(#(\w+)\)/g, (_, name: string) => `](#${name.toLowerCase()})`);
