import { follow } from "../../src/contract/operations.ts";

/** One difference between two versions of a contract, as Redocly reports it. */
export interface Change {
  /** A JSON pointer with a leading `#`. */
  path: string;
  kind: "added" | "removed" | "modified";
  impact: "major" | "minor" | "patch";
  /** The changed member of the object at the path; undefined if the object itself was changed. */
  property?: string;
  verdicts: { message: string }[];
}

// biome-ignore lint/suspicious/noExplicitAny: An OpenAPI or AsyncAPI contract.
export type Document = any;

interface Entry {
  /** For example `GET /changes`; undefined if the change belongs to no operation. */
  operation?: string;
  text: string;
  isBreaking: boolean;
}

const texts = ["description", "summary", "title", "example", "examples"];
/** Examples, and the names of values in generated clients. */
const textSections = ["examples", "x-enum-varnames"];
const textsEntry = "Descriptions and examples.";
/** Steps of a pointer that mean nothing to a caller. */
const structuralSteps = ["content", "schema", "properties", "discriminator", "mapping", "items"];
const singular: Record<string, string> = {
  ...{ servers: "server", messages: "message", operations: "operation", channels: "channel", paths: "path" },
};

/** Describes the changes for callers in lines of Markdown: one line for each operation, breaking changes first. */
export function describeChanges(changes: Change[], before: Document, now: Document): string[] {
  const entries = changes.flatMap((change) => entriesOf(change, change.kind === "removed" ? before : now));
  const grouped = Map.groupBy(entries, ({ operation, text }) => operation ?? text);
  const lines = [...grouped].map(([name, all]) => {
    const members = withoutReplaced(all);
    const isBreaking = members.some((member) => member.isBreaking);
    const parts = new Set(
      members.toSorted((a, b) => Number(b.isBreaking) - Number(a.isBreaking)).map(({ text }) => text),
    );
    const line = members[0]?.operation === undefined ? name : `\`${name}\`: ${[...parts].join("; ")}.`;
    return { isBreaking, line: `- ${isBreaking ? "**breaking** " : ""}${line}` };
  });
  const rank = ({ isBreaking, line }: (typeof lines)[number]) =>
    isBreaking ? 0 : line === `- ${textsEntry}` ? 2 : 1;
  return lines.toSorted((a, b) => rank(a) - rank(b)).map(({ line }) => line);
}

/** Redocly reports a parameter that has other texts and another reference to its schema as removed and added. */
function withoutReplaced(entries: Entry[]): Entry[] {
  const has = (text: string) => entries.some((entry) => entry.text === text);
  const isReplaced = ({ text }: Entry) => {
    const [, parameter] = /^(?:new|removed) (parameter .*)$/.exec(text) ?? [];
    return parameter !== undefined && has(`new ${parameter}`) && has(`removed ${parameter}`);
  };
  const kept = entries.filter((entry) => !isReplaced(entry));
  return kept.length > 0 ? kept : [{ text: textsEntry, isBreaking: false }];
}

function entriesOf(change: Change, document: Document): Entry[] {
  const { path, kind, impact, property, verdicts } = change;
  const isBreaking = impact === "major";
  const steps = path
    .slice(2)
    .split("/")
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"));
  const [root = "", ...rest] = steps;
  const isText = texts.includes(property ?? "") || steps.some((step) => textSections.includes(step));
  if (!isBreaking && isText) {
    return [{ text: textsEntry, isBreaking }];
  }
  if (root === "paths") return operationEntries(change, rest, document);
  // Callers see a component or a tag only in the operations that use it, and a list entry only in its target.
  const isIndirect = root === "tags" || root === "components" || /^\d+$/.test(steps.at(-1) ?? "");
  if (isIndirect && !isBreaking && (kind !== "modified" || impact === "patch")) return [];
  const message = verdicts.map((verdict) => verdict.message).join(" ");
  const payload = steps.indexOf("payload");
  const member = steps[steps.lastIndexOf("properties") + 1];
  if (payload > 0 && steps.includes("properties") && !message) {
    const isWhole = member === steps.at(-1) && property === undefined;
    const what = !isWhole ? "changed" : kind === "added" ? "new" : kind;
    return [{ operation: steps[payload - 1] as string, text: `${what} member \`${member}\``, isBreaking }];
  }
  if (message || property) {
    return [{ text: `\`${placeOf(steps) || "contract"}\`: ${message || `${property} ${kind}`}`, isBreaking }];
  }
  const noun = singular[steps.at(-2) ?? ""];
  const name = noun ? `${noun} \`${steps.at(-1)}\`` : `section \`${placeOf(steps)}\``;
  return [{ text: kind === "added" ? `New ${name}.` : `The ${name} was ${kind}.`, isBreaking }];
}

function operationEntries(
  { kind, impact, property, verdicts }: Change,
  [path = "", method, ...place]: string[],
  document: Document,
): Entry[] {
  const isBreaking = impact === "major";
  if (method === undefined) {
    const methods: string[] = Object.keys(document.paths[path]);
    return methods.map((name) => wholeOperation(document, path, name, kind, isBreaking));
  }
  if (place.length === 0 && property === undefined) {
    return [wholeOperation(document, path, method, kind, isBreaking)];
  }
  const operation = `${method.toUpperCase()} ${path}`;
  const message = verdicts.map((verdict) => verdict.message.replace(/\.$/, "")).join("; ");
  const [part, key = "", ...inner] = place;
  const node = at(document, ["paths", path, method, ...place]);
  const added = kind === "added" ? "new" : kind;
  const whole = (text: string): Entry[] => [{ operation, text: `${added} ${text}`, isBreaking }];
  if (part === "parameters" && inner.length === 0 && property === undefined) {
    return whole(`parameter \`${node?.name}\``);
  }
  if (part === "responses" && property === undefined) {
    const names = inner.length > 1 ? [inner[1]] : Object.keys(node ?? {});
    if (inner.length === 0) return whole(`status ${key}`);
    if (inner[0] === "headers") return whole(`header \`${names.join(", ")}\` with status ${key}`);
    if (inner.at(-2) === "properties") return whole(`member \`${inner.at(-1)}\` with status ${key}`);
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

const placeOf = (steps: string[]) => steps.filter((step) => !structuralSteps.includes(step)).join(".");

/** The node at this path. References on the way are followed. */
const at = (document: Document, steps: string[]): Document =>
  steps.reduce((node, step) => follow(document, node?.[step]), document);
