import type { Input } from "./input.ts";
import type { Protocol, Reply } from "./protocol.ts";
import { missing, SqsError } from "./sqs-error.ts";

/**
 * The query protocol, which AWS SDKs spoke until 2023: forms in, XML out. It has the same operations and members as the
 * JSON protocol, with other names for lists and maps.
 */
export const queryProtocol: Protocol = {
  read({ url = "/" }, body) {
    // Ten messages with ten attributes each have fewer.
    if (body.split("&", parametersMax + 1).length > parametersMax) {
      throw new SqsError("MalformedQueryString", `The request has more than ${parametersMax} parameters.`);
    }
    const { Action, Version, ...parameters } = Object.fromEntries(new URLSearchParams(body));
    if (!Action) throw missing("Action");
    // Old SDKs name the queue in the path only.
    return { operation: Action, input: { QueueUrl: url, ...readMembers(treeOf(parameters)) } };
  },
  result: (requestId, operation, output) =>
    reply(200, requestId, `${operation}Response`, {
      [`${operation}Result`]: writeMembers(operation, output),
      ResponseMetadata: { RequestId: requestId },
    }),
  error: (requestId, { status, queryCode, fault, message }) =>
    reply(status, requestId, "ErrorResponse", {
      Error: { Type: fault, Code: queryCode, Message: message },
      RequestId: requestId,
    }),
};

const parametersMax = 1000;
/** Deeper than any parameter is. */
const stepsMax = 8;
const numbers = ["DelaySeconds", "MaxNumberOfMessages", "MaxResults", "VisibilityTimeout", "WaitTimeSeconds"];

/** The parameters as a tree: each part of a name is a step. */
function treeOf(parameters: Record<string, string>): Input {
  const tree: Input = Object.create(null);
  for (const [name, value] of Object.entries(parameters)) {
    const steps = name.split(".", stepsMax);
    const last = steps.pop() ?? "";
    let node = tree;
    for (const step of steps) {
      if (typeof node[step] !== "object") node[step] = Object.create(null);
      node = node[step] as Input;
    }
    node[last] = numbers.includes(last) ? Number(value) : value;
  }
  return tree;
}

const isTree = (value: unknown): value is Input => typeof value === "object";

const readMembers = (tree: Input): Input => Object.fromEntries(Object.entries(tree).map(readMember));

function readMember([name, value]: [string, unknown]): [name: string, value: unknown] {
  if (!isTree(value)) return [name, value];
  // A list of one entry may lack the number.
  const isList = "1" in value || "Name" in value;
  if (!isList) return [name, readMembers(value)];
  const items = "1" in value ? Object.values(value) : [value];
  const list = items.map((entry) => (isTree(entry) ? readMembers(entry) : entry));
  if (name.endsWith("BatchRequestEntry")) return ["Entries", list];
  const isMap = list.every((entry): entry is Input => isTree(entry) && typeof entry.Name === "string");
  return [`${name}s`, isMap ? Object.fromEntries(list.map(({ Name, Value }) => [Name, Value])) : list];
}

function writeMembers(operation: string, members: Input): Input {
  const names: Record<string, string> = {
    Successful: `${operation}ResultEntry`,
    Failed: "BatchResultErrorEntry",
  };
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => {
      const list = name.endsWith("Attributes") && isTree(value) ? pairsOf(value) : value;
      if (!Array.isArray(list)) return [name, value];
      const entries = list.map((entry) => (isTree(entry) ? writeMembers(operation, entry) : entry));
      return [names[name] ?? name.slice(0, -1), entries];
    }),
  );
}

const pairsOf = (map: Input) => Object.entries(map).map(([Name, Value]) => ({ Name, Value }));

const reply = (status: number, requestId: string, name: string, members: Input): Reply => ({
  status,
  headers: { "content-type": "text/xml", "x-amzn-requestid": requestId },
  body: element(name, members),
});

const element = (name: string, value: unknown): string =>
  Array.isArray(value)
    ? value.map((entry) => element(name, entry)).join("")
    : `<${name}>${isTree(value) ? elements(value) : escapeXml(String(value))}</${name}>`;
const elements = (members: Input) =>
  Object.entries(members)
    .map(([name, value]) => element(name, value))
    .join("");

/** A parser of XML replaces a carriage return, unless it is escaped. */
const escapeXml = (text: string) =>
  text.replaceAll(/[&<>\r]/g, (character) => `&#${character.charCodeAt(0)};`);
