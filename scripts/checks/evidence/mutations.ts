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

/** Every known mutation of a contract, in the order of the document. */
export function mutationsOf(contract: Contract): Mutation[] {
  const found: Mutation[] = [];
  const add = (kind: string, place: string[], what: string, apply: (node: Node) => void) =>
    found.push({ kind, place, what, apply });
  visitOperations(contract, add);
  const {
    schemas,
    parameters = {},
    requestBodies = {},
    responses = {},
    headers = {},
  } = contract.components as Node;
  for (const [name, parameter] of Object.entries<Node>(parameters)) {
    visitParameter(parameter, ["components", "parameters", name], add);
  }
  for (const [name, body] of Object.entries<Node>(requestBodies)) {
    visitBody(body, ["components", "requestBodies", name], add);
  }
  for (const [name, response] of Object.entries<Node>(responses)) {
    visitResponse(response, ["components", "responses", name], add);
  }
  for (const [name, header] of Object.entries<Node>(headers)) {
    visitHeader(header, ["components", "headers", name], add);
  }
  visitSchemas(schemas, ["components", "schemas"], add);
  return found;
}

type Add = (kind: string, place: string[], what: string, apply: (node: Node) => void) => void;

function visitOperations({ paths }: Contract, add: Add): void {
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item as Record<string, Node>)) {
      visitOperation(operation, ["paths", path, method], add);
    }
  }
}

function visitOperation(
  { parameters = [], requestBody, responses, security = [] }: Node,
  place: string[],
  add: Add,
): void {
  for (const [index, alternative] of (security as Node[]).entries()) {
    add("security removed", place, `${index + 1}`, (node) => node.security.splice(index, 1));
    for (const scheme of Object.keys(alternative)) {
      add("scope changed", place, `${index + 1}`, (node) => {
        node.security[index][scheme] = ["colour"];
      });
    }
  }
  for (const [status, response] of Object.entries<Node>(responses)) {
    add("status removed", place, status, (node) => delete node.responses[status]);
    if (!response.$ref) visitResponse(response, [...place, "responses", status], add);
  }
  add("status added", place, "418", (node) => {
    node.responses["418"] = node.responses["400"];
  });
  for (const [index, parameter] of (parameters as Node[]).entries()) {
    const name = parameter.name ?? parameter.$ref.split("/").at(-1);
    add("parameter removed", place, name, (node) => node.parameters.splice(index, 1));
    if (!parameter.$ref) visitParameter(parameter, [...place, "parameters", String(index)], add);
  }
  for (const location of ["query", "header"]) {
    add("parameter added", place, `colour in the ${location}`, (node) => {
      const colour = {
        name: "colour",
        in: location,
        description: "Added by a mutation.",
        schema: { type: "string" },
      };
      node.parameters = [...(node.parameters ?? []), colour];
    });
  }
  if (requestBody) add("body removed", place, "", (node) => delete node.requestBody);
  if (requestBody && !requestBody.$ref) visitBody(requestBody, [...place, "requestBody"], add);
}

function visitBody({ required, content }: Node, place: string[], add: Add): void {
  add(required ? "body made optional" : "body made required", place, "", (node) => {
    node.required = !node.required;
  });
  for (const [type, { schema }] of Object.entries<Node>(content)) {
    add("media type removed", place, type, (node) => delete node.content[type]);
    visitSchema(schema, [...place, "content", type, "schema"], add);
  }
}

function visitParameter(parameter: Node, place: string[], add: Add): void {
  const { name, required, schema } = parameter;
  if (parameter.in !== "path") {
    add(required ? "parameter made optional" : "parameter made required", place, name, (node) => {
      node.required = !node.required;
    });
  }
  visitSchema(schema, [...place, "schema"], add);
}

function visitResponse({ content = {}, headers = {} }: Node, place: string[], add: Add): void {
  for (const type of Object.keys(content)) {
    add("media type removed", place, type, (node) => delete node.content[type]);
  }
  for (const [name, header] of Object.entries<Node>(headers)) {
    add("header removed", place, name, (node) => delete node.headers[name]);
    add("header renamed", place, name, (node) => {
      const { [name]: renamed, ...others } = node.headers;
      node.headers = { ...others, "X-Colour": renamed };
    });
    if (!header.$ref) visitHeader(header, [...place, "headers", name], add);
  }
  add("header added", place, "X-Colour", (node) => {
    const colour = { description: "Added by a mutation.", schema: { type: "string" } };
    node.headers = { ...node.headers, "X-Colour": colour };
  });
}

function visitHeader({ required, schema }: Node, place: string[], add: Add): void {
  add(required ? "header made optional" : "header made required", place, "", (node) => {
    node.required = !node.required;
  });
  visitSchema(schema, [...place, "schema"], add);
}

function visitSchemas(schemas: Record<string, Node>, place: string[], add: Add): void {
  for (const [name, schema] of Object.entries(schemas)) visitSchema(schema, [...place, name], add);
}

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
  if (properties) {
    add("required member added", place, "colour", (node) => {
      node.properties.colour = { type: "string", description: "Added by a mutation." };
      node.required = [...(node.required ?? []), "colour"];
    });
    add("optional member added", place, "colour", (node) => {
      node.properties.colour = { type: "string", description: "Added by a mutation." };
    });
    for (const name of Object.keys(properties)) {
      add("member removed", place, name, (node) => {
        delete node.properties[name];
        node.required = (node.required ?? []).filter((other: string) => other !== name);
      });
      if (!required.includes(name)) {
        add("member made required", place, name, (node) => {
          node.required = [...(node.required ?? []), name];
        });
      }
    }
    visitSchemas(properties, [...place, "properties"], add);
  }
  if (items) visitSchema(items, [...place, "items"], add);
  for (const keyword of ["oneOf", "anyOf"]) {
    for (const [index, alternative] of (schema[keyword] ?? []).entries()) {
      add("alternative removed", place, String(index + 1), (node) => node[keyword].splice(index, 1));
      visitSchema(alternative, [...place, keyword, String(index)], add);
    }
  }
}
