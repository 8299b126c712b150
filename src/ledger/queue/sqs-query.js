// The query protocol of Amazon SQS, which AWS SDKs spoke until 2023: forms in, XML out. It has the same operations and
// members as the JSON protocol, with other names for lists and maps.

export const queryVersion = "2012-11-05";

/** Deeper than any parameter is. */
const stepsMax = 8;
const numbers = ["DelaySeconds", "MaxNumberOfMessages", "MaxResults", "VisibilityTimeout", "WaitTimeSeconds"];

/** The request of the JSON protocol for the parameters of a form. Old SDKs name the queue in the path only. */
export function readQuery({ Action, Version, ...parameters }, path) {
  const tree = Object.create(null);
  for (const [name, value] of Object.entries(parameters)) {
    const steps = name.split(".", stepsMax);
    const last = steps.pop();
    let node = tree;
    for (const step of steps) {
      if (typeof node[step] !== "object") node[step] = Object.create(null);
      node = node[step];
    }
    node[last] = numbers.includes(last) ? Number(value) : value;
  }
  return { action: Action, input: { QueueUrl: path, ...readMembers(tree) } };
}

const readMembers = (tree) => Object.fromEntries(Object.entries(tree).map(readMember));

function readMember([name, value]) {
  if (typeof value !== "object") return [name, value];
  if (!("1" in value)) return [name, readMembers(value)];
  const list = Object.values(value).map((entry) => (typeof entry === "object" ? readMembers(entry) : entry));
  if (name.endsWith("BatchRequestEntry")) return ["Entries", list];
  const isMap = list[0].Name !== undefined;
  return [`${name}s`, isMap ? Object.fromEntries(list.map(({ Name, Value }) => [Name, Value])) : list];
}

/** The response in XML for that of the JSON protocol. */
export const writeResult = (requestId, action, output) =>
  element(`${action}Response`, {
    [`${action}Result`]: writeMembers(action, output),
    ResponseMetadata: { RequestId: requestId },
  });

export const writeError = (requestId, code, fault, message) =>
  element("ErrorResponse", { Error: { Type: fault, Code: code, Message: message }, RequestId: requestId });

function writeMembers(action, members) {
  const names = { Successful: `${action}ResultEntry`, Failed: "BatchResultErrorEntry" };
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => {
      const list = name.endsWith("Attributes") && typeof value === "object" ? pairsOf(value) : value;
      if (!Array.isArray(list)) return [name, value];
      const entries = list.map((entry) => (typeof entry === "object" ? writeMembers(action, entry) : entry));
      return [names[name] ?? name.slice(0, -1), entries];
    }),
  );
}

const pairsOf = (map) => Object.entries(map).map(([Name, Value]) => ({ Name, Value }));

const element = (name, value) =>
  Array.isArray(value)
    ? value.map((entry) => element(name, entry)).join("")
    : `<${name}>${typeof value === "object" ? elements(value) : escapeXml(String(value))}</${name}>`;
const elements = (members) =>
  Object.entries(members)
    .map(([name, value]) => element(name, value))
    .join("");

/** A parser of XML replaces a carriage return, unless it is escaped. */
const escapeXml = (text) => text.replaceAll(/[&<>\r]/g, (character) => `&#${character.charCodeAt(0)};`);
