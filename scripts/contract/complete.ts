import { STATUS_CODES } from "node:http";
import { parseDocument } from "yaml";
import type { Contract } from "../../src/contract/operations.ts";

interface ErrorFormat {
  "media-type": string;
  /** The name of the schema. */
  schema: string;
  /** A body with the placeholders `{message}`, `{status}` and `{title}`. */
  example: unknown;
}

interface Response {
  $ref?: string;
  /** The error message of each example, by the name of the example. */
  "x-messages"?: Record<string, string>;
}

interface Operation {
  tags?: string[];
  security?: object[];
  requestBody?: object;
  responses?: Record<string, Response>;
}

interface WrittenContract {
  paths?: Record<string, Record<string, Operation>>;
  components?: { responses?: Record<string, Response> };
  "x-common-headers"?: Record<string, object>;
  "x-common-responses"?: Record<string, Record<string, Response>>;
  "x-error-formats"?: Record<string, ErrorFormat>;
}

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
 * therefore has three extensions, which are resolved and removed:
 *
 * - `x-common-headers` adds headers to each response that does not declare them.
 * - `x-common-responses` adds responses to each operation that meets a condition and does not declare the status. Of two
 *   conditions the later one decides.
 * - `x-error-formats` gives a response with `x-messages` its content: in the format of the operation's tag, with the tag
 *   as the prefix of its name, or in the default format.
 *
 * Throws on an unknown condition or response, on a response that no operation uses and on one that has two statuses.
 */
export function completeContract(text: string): { yaml: string; contract: Contract } {
  const document = parseDocument(text);
  const written = document.toJS() as WrittenContract;
  const { "x-common-responses": common = {}, "x-error-formats": formats = {} } = written;
  const headers = Object.entries(written["x-common-headers"] ?? {});
  const shared = written.components?.responses ?? {};
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

  /** Completes a shared response in the format of a tag. Returns its name in the document. */
  function completeResponse(name: string, status: string, tag: string): string {
    const response = shared[name];
    if (!response) throw new Error(`${reference}${name} does not exist`);
    const messages = response["x-messages"];
    const formatted = messages && formats[tag] ? capitalised(tag) + name : name;
    referred.add(name);
    const other = statuses.get(formatted);
    if (other !== undefined && other !== status)
      throw new Error(`${name} has the statuses ${other}, ${status}`);
    if (other === undefined && messages) {
      const { "x-messages": _, ...rest } = response;
      const format = formats[tag] ?? formats.default;
      const content = format && contentOf(format, status, messages);
      document.setIn(["components", "responses", formatted], document.createNode({ ...rest, content }));
    }
    statuses.set(formatted, status);
    return formatted;
  }

  for (const [path, method, operation] of operationsOf(written)) {
    const responses = { ...commonResponses(common, operation, method), ...operation.responses };
    for (const [status, { $ref }] of Object.entries(responses)) {
      if (!$ref) {
        addHeaders("paths", path, method, "responses", status);
        continue;
      }
      const name = completeResponse($ref.slice(reference.length), status, operation.tags?.[0] ?? "");
      document.setIn(["paths", path, method, "responses", status], { $ref: reference + name });
    }
  }
  const unused = Object.keys(shared).filter((name) => !referred.has(name));
  if (unused.length > 0) throw new Error(`no operation uses the response ${unused.join(", ")}`);
  for (const name of Object.keys(shared)) {
    if (!statuses.has(name)) document.deleteIn(["components", "responses", name]);
  }
  for (const name of statuses.keys()) addHeaders("components", "responses", name);
  for (const extension of ["x-common-headers", "x-common-responses", "x-error-formats"])
    document.delete(extension);
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

const operationsOf = ({ paths = {} }: WrittenContract) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [path, method, operation] as const),
  );

const capitalised = (tag: string) => tag.charAt(0).toUpperCase() + tag.slice(1);

const contentOf = (format: ErrorFormat, status: string, messages: Record<string, string>) => ({
  [format["media-type"]]: {
    schema: { $ref: `#/components/schemas/${format.schema}` },
    examples: Object.fromEntries(
      Object.entries(messages).map(([name, message]) => [
        name,
        { value: fill(format.example, status, message) },
      ]),
    ),
  },
});

function fill(template: unknown, status: string, message: string): unknown {
  if (template === "{status}") return Number(status);
  if (typeof template === "string") {
    return template.replaceAll("{message}", message).replaceAll("{title}", STATUS_CODES[status] ?? "");
  }
  if (Array.isArray(template)) return template.map((item) => fill(item, status, message));
  if (typeof template !== "object" || template === null) return template;
  return Object.fromEntries(
    Object.entries(template).map(([name, value]) => [name, fill(value, status, message)]),
  );
}
