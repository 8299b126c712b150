import { follow } from "../../src/contract/operations.ts";

/** One difference between two versions of a contract, as Redocly reports it. */
export interface Change {
  /** A JSON pointer with a leading `#`. */
  path: string;
  kind: "added" | "removed" | "modified";
  impact: "major" | "minor" | "patch";
  /** The member of the object at the path, if it is not the object itself. */
  property?: string;
  verdicts: { message: string }[];
}

// biome-ignore lint/suspicious/noExplicitAny: A contract of OpenAPI or AsyncAPI.
export type Document = any;

interface Entry {
  /** The operation, such as `GET /changes`; undefined if the change belongs to none. */
  operation?: string;
  text: string;
  isBreaking: boolean;
}

const texts = ["description", "summary", "title", "example", "examples"];
const textsEntry = "Descriptions and examples.";
/** Steps of a pointer that name no part of the contract for a caller. */
const structure = ["content", "schema", "properties", "discriminator", "mapping", "items"];
const singular: Record<string, string> = {
  servers: "server",
  messages: "message",
  operations: "operation",
  channels: "channel",
  paths: "path",
};

/** What changed for a caller, as lines of Markdown: breaking changes first, one line for each operation. */
export function describeChanges(changes: Change[], before: Document, now: Document): string[] {
  const entries = changes.flatMap((change) => entriesOf(change, change.kind === "removed" ? before : now));
  const grouped = Map.groupBy(entries, ({ operation, text }) => operation ?? text);
  const lines = [...grouped].map(([name, members]) => {
    const isBreaking = members.some((member) => member.isBreaking);
    const parts = new Set(
      members
        .toSorted((one, other) => Number(other.isBreaking) - Number(one.isBreaking))
        .map(({ text }) => text),
    );
    const line = members[0]?.operation === undefined ? name : `\`${name}\`: ${[...parts].join("; ")}.`;
    return { isBreaking, line: `- ${isBreaking ? "**breaking** " : ""}${line}` };
  });
  const rank = ({ isBreaking, line }: (typeof lines)[number]) =>
    isBreaking ? 0 : line === `- ${textsEntry}` ? 2 : 1;
  return lines.toSorted((one, other) => rank(one) - rank(other)).map(({ line }) => line);
}

function entriesOf(change: Change, document: Document): Entry[] {
  const { path, kind, impact, property, verdicts } = change;
  const isBreaking = impact === "major";
  const steps = path
    .slice(2)
    .split("/")
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"));
  const [root = "", ...rest] = steps;
  if (!isBreaking && (texts.includes(property ?? "") || steps.includes("examples"))) {
    return [{ text: textsEntry, isBreaking }];
  }
  if (root === "paths") return operationEntries(change, rest, document);
  // A component or a tag reaches a caller through an operation, an entry of a list through what it refers to.
  const isIndirect = root === "tags" || root === "components" || /^\d+$/.test(steps.at(-1) ?? "");
  if (isIndirect && !isBreaking && (kind !== "modified" || impact === "patch")) return [];
  const message = verdicts.map((verdict) => verdict.message).join(" ");
  if (message || property) {
    return [{ text: `\`${placeOf(steps)}\`: ${message || `${property} ${kind}`}`, isBreaking }];
  }
  const name = steps.at(-1) ?? "";
  const type = singular[steps.at(-2) ?? ""] ?? "section";
  return [
    {
      text: kind === "added" ? `New ${type} \`${name}\`.` : `The ${type} \`${name}\` was ${kind}.`,
      isBreaking,
    },
  ];
}

function operationEntries(
  { kind, impact, property, verdicts }: Change,
  [path = "", method, ...place]: string[],
  document: Document,
): Entry[] {
  const isBreaking = impact === "major";
  if (method === undefined) {
    const methods: string[] = Object.keys(document.paths[path]);
    return methods.map((each) => wholeOperation(document, path, each, kind, isBreaking));
  }
  if (place.length === 0 && property === undefined) {
    return [wholeOperation(document, path, method, kind, isBreaking)];
  }
  const operation = `${method.toUpperCase()} ${path}`;
  const message = verdicts.map((verdict) => verdict.message.replace(/\.$/, "")).join("; ");
  const [part, key = "", ...inner] = place;
  const node = at(document, ["paths", path, method, ...place]);
  const added = kind === "added" ? "new" : kind;
  if (part === "parameters" && inner.length === 0 && property === undefined) {
    return [{ operation, text: `${added} parameter \`${node?.name}\``, isBreaking }];
  }
  if (part === "responses" && inner.length === 0 && property === undefined) {
    return [{ operation, text: `${added} status ${key}`, isBreaking }];
  }
  if (part === "responses" && inner[0] === "headers" && property === undefined) {
    const names = inner.length > 1 ? [inner[1]] : Object.keys(node ?? {});
    return [{ operation, text: `${added} header \`${names.join(", ")}\` with status ${key}`, isBreaking }];
  }
  if (part === "responses" && inner.at(-2) === "properties" && property === undefined) {
    return [{ operation, text: `${added} member \`${inner.at(-1)}\` with status ${key}`, isBreaking }];
  }
  if (part === "security" && !message) return [];
  if (!message && impact === "patch") return [{ text: textsEntry, isBreaking }];
  const text = `\`${placeOf(property ? [...place, property] : place)}\`: ${message || kind}`;
  return [{ operation, text: part === "security" ? message : text, isBreaking }];
}

function wholeOperation(
  document: Document,
  path: string,
  method: string,
  kind: Change["kind"],
  isBreaking: boolean,
): Entry {
  const name = `\`${method.toUpperCase()} ${path}\``;
  const { summary } = document.paths[path][method];
  return {
    text: kind === "added" ? `New operation ${name}: ${summary}.` : `${name} was ${kind}.`,
    isBreaking,
  };
}

const placeOf = (steps: string[]) => steps.filter((step) => !structure.includes(step)).join(".");

/** The node at a place, with references followed on the way. */
const at = (document: Document, steps: string[]): Document =>
  steps.reduce((node, step) => follow(document, node?.[step]), document);
