import { parseDocument } from "yaml";
import {
  type Contract,
  operationsOf as completeOperationsOf,
  queryKey,
} from "../../src/contract/operations.ts";
import { recordedOperations } from "../../src/contract/recorded.ts";
import { type PositionKind, positionParameters, queryOf, type WrittenOperation } from "./queries.ts";

interface ErrorFormat {
  "media-type": string;
  /** The name of the schema. */
  schema: string;
  /** A body with the placeholders `{type}`, `{title}`, `{status}`, `{message}` and `{errors}`. */
  example: unknown;
}

/** A fault of a request as in the schema `Fault`, or the detail of another kind of problem than the first of the status. */
interface Fault {
  detail: string;
  /** The kind of the problem. */
  problem?: string;
}

interface Response {
  $ref?: string;
  /** The error message or the fault of each example, by the name of the example. */
  "x-messages"?: Record<string, string | Fault>;
}

type Operation = Omit<WrittenOperation, "responses"> & { responses?: Record<string, Response> };

interface WrittenContract {
  paths?: Record<string, Record<string, Operation>>;
  components?: { responses?: Record<string, Response>; schemas?: Record<string, object> };
  "x-problems"?: Problems;
  "x-common-headers"?: Record<string, object>;
  "x-recorded-parameters"?: object[];
  "x-common-responses"?: Record<string, Record<string, Response>>;
  "x-general-responses"?: Record<string, Response>;
  "x-error-formats"?: Record<string, ErrorFormat[]>;
}

/** The kinds of problems by name. */
export type Problems = Record<
  string,
  {
    status: number;
    title: string;
    description: string;
    advice: string;
    /** The message of an example, which becomes a problem document. Default: the first message of this kind. */
    example?: string | Fault;
  }
>;

/** The conditions under which `x-common-responses` adds responses. */
const conditions: Record<string, (operation: Operation, method: string) => boolean> = {
  always: () => true,
  "with-security": ({ security = [] }) => security.length > 0,
  "with-changes": (_, method) => method !== "get",
  "with-request-body": ({ requestBody }) => requestBody !== undefined,
};

const reference = "#/components/responses/";

/**
 * Completes a written contract. Returns it as YAML, with the layout kept, and as a value. OpenAPI cannot share a set of
 * responses between operations, nor a response between error formats, nor a header between responses. A written contract
 * therefore has seven extensions, which are resolved and removed:
 *
 * - `x-common-headers` adds headers to each response that does not declare them.
 * - `x-recorded-parameters` adds parameters to each operation whose accesses are recorded.
 * - `x-common-responses` adds responses to each operation that meets a condition and does not declare the status. Of two
 *   conditions the later one decides.
 * - `x-error-formats` gives a response with `x-messages` its content: in the formats of the operation's tag, with the tag
 *   as the prefix of its name, or in the default formats.
 * - `x-query` adds the same operation with the method QUERY to its path, where OpenAPI 3.1 has no other place for it.
 * - `x-entity-tag` gives an operation the parameter `If-None-Match`, the header `ETag` of the status 200 and the status 304.
 * - `x-position` gives an operation the parameter `at_least`, with the value `known_at` also that parameter, the header
 *   `Ledger-Position` of the status 200 and the status 410.
 *
 * Two more extensions stay, since services and clients read them. `x-general-responses` are those that do not depend on the
 * operation; they have the content of all formats. The type of a problem document becomes the list of `x-problems`, each of
 * which gets an example.
 *
 * Throws on an unknown condition, response or kind of problem, on a kind without an example, on a response that no operation uses
 * and on one that has two statuses.
 */
export function completeContract(text: string): { yaml: string; contract: Contract } {
  const document = parseDocument(text);
  const written = document.toJS() as WrittenContract;
  const {
    "x-common-responses": common = {},
    "x-general-responses": general = {},
    "x-error-formats": formats = {},
    "x-problems": problems = {},
  } = written;
  const headers = Object.entries(written["x-common-headers"] ?? {});
  const shared = written.components?.responses ?? {};
  /** The values of the first message of each kind of problem. */
  const first = new Map<string, ErrorExample["values"]>();
  /** The shared responses that an operation refers to. */
  const referred = new Set<string>();
  /** The status of each response in the document, by its name there. */
  const statuses = new Map<string, string>();

  function addHeaders(...response: string[]): void {
    for (const [name, header] of headers) {
      const place = [...response, "headers", name];
      if (!document.hasIn(place)) document.setIn(place, document.createNode(header));
    }
  }

  /** Replaces the messages of a response by content in these formats. */
  function complete({ "x-messages": messages, ...rest }: Response, status: string, used: ErrorFormat[]) {
    if (!messages) return rest;
    const all = Object.entries(messages).map(([name, message]) =>
      readMessage(name, message, Number(status), problems),
    );
    const content = used.map((format) => [format["media-type"], contentOf(format, all)]);
    for (const { kind, values } of all) if (!first.has(kind)) first.set(kind, values);
    return { ...rest, content: Object.fromEntries(content) };
  }

  /** Completes a shared response in the formats of a tag. Returns its name in the document. */
  function completeResponse(name: string, status: string, tag: string): string {
    const response = shared[name];
    if (!response) throw new Error(`${reference}${name} does not exist`);
    const own = response["x-messages"] && formats[tag];
    const formatted = own ? capitalised(tag) + name : name;
    referred.add(name);
    const other = statuses.get(formatted);
    if (other !== undefined && other !== status)
      throw new Error(`${name} has the statuses ${other}, ${status}`);
    if (other === undefined) {
      const completed = complete(response, status, own ?? formats.default ?? []);
      document.setIn(["components", "responses", formatted], document.createNode(completed));
    }
    statuses.set(formatted, status);
    return formatted;
  }

  /** Adds what an entity tag needs. A header that the operation declares itself stays. */
  function addEntityTag(...operation: string[]): void {
    const parameter = document.createNode({ $ref: "#/components/parameters/IfNoneMatch" });
    document.addIn([...operation, "parameters"], parameter);
    const header = [...operation, "responses", "200", "headers", "ETag"];
    if (!document.hasIn(header))
      document.setIn(header, document.createNode({ $ref: "#/components/headers/ETag" }));
    document.deleteIn([...operation, "x-entity-tag"]);
  }

  /** Adds what a position needs. The operation with the method QUERY has the parameters already, in its body. */
  function addPosition(kind: PositionKind, ...operation: string[]): void {
    if (operation.at(-1) !== queryKey)
      for (const parameter of positionParameters(kind))
        document.addIn([...operation, "parameters"], document.createNode(parameter));
    const header = kind === "known_at" ? "LedgerPosition" : "IncludedPosition";
    const place = [...operation, "responses", "200", "headers", "Ledger-Position"];
    document.setIn(place, document.createNode({ $ref: `#/components/headers/${header}` }));
    document.deleteIn([...operation, "x-position"]);
  }

  /** An operation beside which there is one with the method QUERY says so if it is a GET. */
  function completeQueried(...operation: string[]): void {
    document.deleteIn([...operation, "x-query"]);
    if (operation.at(-1) !== "get") return;
    const header = document.createNode({ $ref: "#/components/headers/AcceptQuery" });
    document.setIn([...operation, "responses", "200", "headers", "Accept-Query"], header);
  }

  for (const [path, method, operation] of withQueries(written)) {
    if (operation["x-query"]) completeQueried("paths", path, method);
    if (method === queryKey) document.setIn(["paths", path, method], document.createNode(operation));
    const hasEntityTag = operation["x-entity-tag"];
    if (hasEntityTag) addEntityTag("paths", path, method);
    const position = operation["x-position"];
    if (position) addPosition(position, "paths", path, method);
    const responses = {
      ...commonResponses(common, operation, method),
      ...(position && { "410": { $ref: `${reference}UnknownPosition` } }),
      ...(hasEntityTag && { "304": { $ref: `${reference}NotModified` } }),
      ...operation.responses,
    };
    for (const [status, { $ref }] of Object.entries(responses)) {
      if (!$ref) {
        addHeaders("paths", path, method, "responses", status);
        continue;
      }
      const name = completeResponse($ref.slice(reference.length), status, operation.tags?.[0] ?? "");
      document.setIn(["paths", path, method, "responses", status], { $ref: reference + name });
    }
  }
  for (const [status, response] of Object.entries(general)) {
    const place = ["x-general-responses", status];
    document.setIn(place, document.createNode(complete(response, status, Object.values(formats).flat())));
    addHeaders(...place);
  }
  const unused = Object.keys(shared).filter((name) => !referred.has(name));
  if (unused.length > 0) throw new Error(`no operation uses the response ${unused.join(", ")}`);
  for (const name of Object.keys(shared)) {
    if (!statuses.has(name)) document.deleteIn(["components", "responses", name]);
  }
  for (const name of statuses.keys()) addHeaders("components", "responses", name);
  if (written.components?.schemas?.Problem) {
    const type = ["components", "schemas", "Problem", "properties", "type"];
    // Generators take a slash for the end of the pattern, so it has none.
    document.setIn([...type, "pattern"], `^\\S*problems\\W(${Object.keys(problems).join("|")})$`);
  }
  const problemFormat = formats.default?.find(({ schema }) => schema === "Problem");
  for (const [kind, { example, status }] of Object.entries(problems)) {
    if (typeof example === "object" && "type" in example) continue; // The contract is complete.
    const own = typeof example === "string" ? { detail: example } : example;
    const values = own
      ? readMessage("", { problem: kind, ...own }, status, problems).values
      : first.get(kind);
    if (!values || !problemFormat) throw new Error(`the problem ${kind} has no example`);
    document.setIn(["x-problems", kind, "example"], document.createNode(fill(problemFormat.example, values)));
  }
  for (const extension of ["x-common-headers", "x-common-responses", "x-error-formats"])
    document.delete(extension);
  if (document.has("x-recorded-parameters")) {
    document.delete("x-recorded-parameters");
    const completed = document.toJS() as Contract;
    for (const { path, key } of recordedOperations(completed, completeOperationsOf(completed))) {
      const place = ["paths", path, key, "parameters"];
      if (!document.hasIn(place)) document.setIn(place, document.createNode([]));
      for (const parameter of written["x-recorded-parameters"] ?? [])
        document.addIn(place, document.createNode(parameter));
    }
  }
  // Long lines are not wrapped.
  const yaml = document.toString({ lineWidth: 0, flowCollectionPadding: true });
  return { yaml, contract: document.toJS() };
}

function commonResponses(
  common: Record<string, Record<string, Response>>,
  operation: Operation,
  method: string,
) {
  const groups = Object.entries(common).map(([condition, responses]) => {
    const applies = conditions[condition];
    if (!applies) throw new Error(`x-common-responses has the unknown condition ${condition}`);
    return applies(operation, method) ? responses : {};
  });
  return Object.assign({}, ...groups) as Record<string, Response>;
}

/** The operations, and for each with `x-query` the one with the method QUERY. */
const withQueries = (written: WrittenContract) =>
  operationsOf(written).flatMap(([path, method, operation]) => {
    const own = [path, method, operation] as const;
    return operation["x-query"] === undefined
      ? [own]
      : [own, [path, queryKey, queryOf(written as Contract, operation)] as const];
  });

const operationsOf = ({ paths = {} }: WrittenContract) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [path, method, operation] as const),
  );

const capitalised = (tag: string) => tag.charAt(0).toUpperCase() + tag.slice(1);

/** A message with its values for the placeholders of a format. */
interface ErrorExample {
  /** The name of the example. */
  name: string;
  kind: string;
  values: Record<string, unknown>;
}

function readMessage(
  name: string,
  message: string | Fault,
  status: number,
  problems: Problems,
): ErrorExample {
  const { problem, ...fault }: Fault = typeof message === "string" ? { detail: message } : message;
  const [kind, { title }] = kindOf(problems, status, problem);
  const errors = Object.keys(fault).length > 1 ? [fault] : undefined;
  return { name, kind, values: { type: `/problems/${kind}`, title, status, message: fault.detail, errors } };
}

const contentOf = ({ schema, example }: ErrorFormat, all: ErrorExample[]) => ({
  schema: { $ref: `#/components/schemas/${schema}` },
  examples: Object.fromEntries(all.map(({ name, values }) => [name, { value: fill(example, values) }])),
});

/** The kind of a problem with a status: the named one, or the first of the status. */
function kindOf(problems: Problems, status: number, name?: string) {
  const found = Object.entries(problems).find(
    ([other, problem]) => problem.status === status && (name === undefined || other === name),
  );
  if (!found) throw new Error(`x-problems has no ${name ?? "kind"} with the status ${status}`);
  return found;
}

/** A template with its placeholders replaced. A member whose placeholder has no value is left out. */
function fill(template: unknown, values: Record<string, unknown>): unknown {
  if (typeof template === "string") {
    const [whole, name = ""] = /^\{(\w+)\}$/.exec(template) ?? [];
    return whole ? values[name] : template.replaceAll(/\{(\w+)\}/g, (_, name) => String(values[name]));
  }
  if (Array.isArray(template)) return template.map((item) => fill(item, values));
  if (typeof template !== "object" || template === null) return template;
  const members = Object.entries(template).map(([name, value]) => [name, fill(value, values)] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}
