import type { Contract } from "../../../src/contract/operations.ts";

/** A small change to a contract, so that it differs from the service. */
export interface Mutation {
  kind: string;
  /** The changed node, as a path through the document. */
  place: string[];
  /** The changed value, in words. */
  what: string;
  apply(node: Node): void;
}

// biome-ignore lint/suspicious/noExplicitAny: A document can have any shape.
type Node = any;

const otherTypes: Record<string, string> = {
  string: "integer",
  integer: "string",
  boolean: "string",
  array: "string",
  object: "string",
};

type Add = (kind: string, place: string[], what: string, apply: (node: Node) => void) => void;
type Visit = (node: Node, place: string[], add: Add) => void;

/** Every known mutation of a contract, in the order of the document. */
export function mutationsOf({ paths, components, ...extensions }: Contract): Mutation[] {
  const found: Mutation[] = [];
  const add: Add = (kind, place, what, apply) => found.push({ kind, place, what, apply });
  visitEach(paths, ["paths"], add, (item, place, add) => visitEach(item, place, add, visitOperation));
  const { "x-general-responses": general = {}, "x-webhooks": webhooks } = extensions as Node;
  visitResponses(general, ["x-general-responses"], named("general", add));
  // The service does not read the body of a response, and its status is that of a receiver.
  visitEach(webhooks, ["x-webhooks"], named("webhook", add), (item, place, add) =>
    visitEach(item, place, add, visitRequest),
  );
  const { schemas, parameters, requestBodies, responses, headers } = components as Node;
  visitEach(parameters, ["components", "parameters"], add, visitParameter);
  visitEach(requestBodies, ["components", "requestBodies"], add, visitBody);
  visitEach(responses, ["components", "responses"], add, visitResponse);
  visitEach(headers, ["components", "headers"], add, visitHeader);
  visitEach(schemas, ["components", "schemas"], add, visitSchema);
  return found;
}

/** Visits the members of an object or the elements of a list. What a reference names is visited at its own place. */
function visitEach(nodes: Node = {}, place: string[], add: Add, visit: Visit): void {
  for (const [name, node] of Object.entries<Node>(nodes)) {
    if (!node.$ref) visit(node, [...place, name], add);
  }
}

/** Adds mutations as kinds of their own, so that as many are drawn of them as of others. */
const named =
  (name: string, add: Add): Add =>
  (kind, ...mutation) =>
    add(`${name} ${kind}`, ...mutation);

const addOtherRequired = (kind: string, { required }: Node, place: string[], what: string, add: Add) =>
  add(`${kind} made ${required ? "optional" : "required"}`, place, what, (node) => {
    node.required = !node.required;
  });

const coloured = { description: "Added by a mutation.", schema: { type: "string" } };

function visitOperation(operation: Node, place: string[], add: Add): void {
  const { responses, security = [] } = operation;
  for (const [index, alternative] of (security as Node[]).entries()) {
    add("security removed", place, `${index + 1}`, (node) => node.security.splice(index, 1));
    for (const scheme of Object.keys(alternative)) {
      add("scope changed", place, `${index + 1}`, (node) => {
        node.security[index][scheme] = ["colour"];
      });
    }
  }
  visitResponses(responses, [...place, "responses"], add);
  visitRequest(operation, place, add);
}

/** The responses by status. */
function visitResponses(responses: Node, place: string[], add: Add): void {
  for (const status of Object.keys(responses)) {
    add("status removed", place, status, (node) => delete node[status]);
  }
  visitEach(responses, place, add, visitResponse);
  add("status added", place, "418", (node) => {
    node["418"] = node["400"] ?? node["405"];
  });
}

/** The parameters and the body of an operation or a webhook. */
function visitRequest({ parameters = [], requestBody }: Node, place: string[], add: Add): void {
  for (const [index, { name, $ref }] of (parameters as Node[]).entries()) {
    add("parameter removed", place, name ?? $ref.split("/").at(-1), (node) =>
      node.parameters.splice(index, 1),
    );
  }
  visitEach(parameters, [...place, "parameters"], add, visitParameter);
  for (const location of ["query", "header"]) {
    add("parameter added", place, `colour in the ${location}`, (node) => {
      node.parameters = [...(node.parameters ?? []), { name: "colour", in: location, ...coloured }];
    });
  }
  if (requestBody) add("body removed", place, "", (node) => delete node.requestBody);
  visitEach(requestBody && { requestBody }, place, add, visitBody);
}

const visitBody: Visit = (body, place, add) => {
  addOtherRequired("body", body, place, "", add);
  for (const type of Object.keys(body.content)) {
    add("media type removed", place, type, (node) => delete node.content[type]);
  }
  visitEach(body.content, [...place, "content"], add, visitHolder);
};

/** What has a schema: a parameter, a header or the content of a body. */
const visitHolder: Visit = ({ schema }, place, add) => visitSchema(schema, [...place, "schema"], add);

const visitParameter: Visit = (parameter, place, add) => {
  if (parameter.in !== "path") addOtherRequired("parameter", parameter, place, parameter.name, add);
  visitHolder(parameter, place, add);
};

const visitResponse: Visit = ({ content = {}, headers = {} }, place, add) => {
  for (const type of Object.keys(content)) {
    add("media type removed", place, type, (node) => delete node.content[type]);
  }
  for (const name of Object.keys(headers)) {
    add("header removed", place, name, (node) => delete node.headers[name]);
    add("header renamed", place, name, (node) => {
      const { [name]: renamed, ...others } = node.headers;
      node.headers = { ...others, "X-Colour": renamed };
    });
  }
  visitEach(headers, [...place, "headers"], add, visitHeader);
  add("header added", place, "X-Colour", (node) => {
    node.headers = { ...node.headers, "X-Colour": coloured };
  });
};

const visitHeader: Visit = (header, place, add) => {
  addOtherRequired("header", header, place, "", add);
  visitHolder(header, place, add);
};

function visitSchema(schema: Node, place: string[], add: Add): void {
  const { type, enum: values, properties, required = [], items } = schema;
  if (typeof type === "string" && otherTypes[type]) {
    add("type changed", place, `${type} to ${otherTypes[type]}`, (node) => {
      node.type = otherTypes[type];
    });
  }
  // With a constant, the types add nothing.
  for (const one of Array.isArray(type) && !("const" in schema || "x-const" in schema) ? type : []) {
    add("type removed", place, one, (node) => {
      node.type = node.type.filter((other: string) => other !== one);
    });
  }
  for (const value of values ?? []) {
    add("enum value removed", place, JSON.stringify(value), (node) => {
      node.enum = node.enum.filter((other: unknown) => other !== value);
    });
  }
  if (values) add("enum value added", place, "colour", (node) => node.enum.push("colour"));
  for (const name of required) {
    add("member made optional", place, name, (node) => {
      node.required = node.required.filter((other: string) => other !== name);
    });
  }
  if (properties) visitProperties(properties, required, place, add);
  if (items) visitSchema(items, [...place, "items"], add);
  for (const keyword of ["oneOf", "anyOf"]) {
    const alternatives: Node[] = schema[keyword] ?? [];
    for (const index of alternatives.keys()) {
      add("alternative removed", place, String(index + 1), (node) => node[keyword].splice(index, 1));
    }
    visitEach(alternatives, [...place, keyword], add, visitSchema);
  }
}

function visitProperties(properties: Node, required: string[], place: string[], add: Add): void {
  const addColour = (node: Node) => {
    node.properties.colour = { type: "string", description: "Added by a mutation." };
  };
  const require = (node: Node, name: string) => {
    node.required = [...(node.required ?? []), name];
  };
  add("required member added", place, "colour", (node) => {
    addColour(node);
    require(node, "colour");
  });
  add("optional member added", place, "colour", addColour);
  for (const name of Object.keys(properties)) {
    add("member removed", place, name, (node) => {
      delete node.properties[name];
      node.required = (node.required ?? []).filter((other: string) => other !== name);
    });
    if (!required.includes(name)) {
      add("member made required", place, name, (node) => require(node, name));
    }
  }
  visitEach(properties, [...place, "properties"], add, visitSchema);
}
