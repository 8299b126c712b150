import { type Contract, type DeclaredResponse, follow, type Operation } from "./operations.ts";

/** A schema, with what leads to the schemas in it. */
interface Node {
  $ref?: string;
  properties?: Record<string, Node>;
  items?: Node;
  oneOf?: Node[];
  anyOf?: Node[];
  allOf?: Node[];
  contentSchema?: Node;
  "x-personal-data"?: boolean;
}

/**
 * The operations whose accesses are recorded: those with a response that can have personal data, and those that change
 * something. An operation beside which there is one with the method QUERY changes nothing.
 */
export function recordedOperations(contract: Contract, operations: Operation[]): Operation[] {
  const isRead = ({ method, operationId }: Operation) =>
    ["GET", "QUERY"].includes(method) || operations.some(({ queryOf }) => queryOf === operationId);
  const hasPersonalData = ({ responses }: Operation) =>
    Object.entries(responses).some(
      ([status, response]) =>
        status.startsWith("2") && contentsOf(response).some((schema) => isPersonal(contract, schema)),
    );
  return operations.filter(
    (operation) => operation.security.length > 0 && (!isRead(operation) || hasPersonalData(operation)),
  );
}

const contentsOf = ({ content = {} }: DeclaredResponse): Node[] =>
  Object.values(content).flatMap(({ schema, ...others }) => [
    schema,
    (others as { "x-item-schema"?: Node })["x-item-schema"] ?? {},
  ]);

function isPersonal(contract: Contract, node: Node, seen = new Set<string>()): boolean {
  if (node["x-personal-data"]) return true;
  if (node.$ref !== undefined) {
    if (seen.has(node.$ref)) return false;
    seen.add(node.$ref);
    return isPersonal(contract, follow(contract, node) as Node, seen);
  }
  return innerOf(node).some((inner) => isPersonal(contract, inner, seen));
}

const innerOf = ({ properties = {}, items, oneOf, anyOf, allOf, contentSchema }: Node): Node[] => [
  ...Object.values(properties),
  ...[items ?? [], contentSchema ?? [], oneOf ?? [], anyOf ?? [], allOf ?? []].flat(),
];

/** The schema of the ids of resources. */
const idSchema = "#/components/schemas/ExternalId";

/** Adds the ids of resources in a value to a set. */
type Collect = (value: unknown, ids: Set<string>) => void;

const nothing: Collect = () => {};

/**
 * Collects the ids of resources in values of a schema: the members that the contract declares as ids, and the `resource` and
 * `id` of the resources of features. It skips what can be personal data, which can have any members.
 */
export function idCollector(contract: Contract, schema: object): Collect {
  const known = new Map<string, { collect: Collect }>();

  function ofSchema(node: Node): Collect {
    if (node["x-personal-data"]) return nothing;
    if (node.$ref === idSchema) return (value, ids) => void (typeof value === "string" && ids.add(value));
    if (node.$ref !== undefined) return ofReference(node.$ref);
    const all = [
      node.properties ? ofObject(node.properties) : nothing,
      node.items ? ofItems(ofSchema(node.items)) : nothing,
      ...[node.oneOf ?? [], node.anyOf ?? [], node.allOf ?? []].flat().map(ofSchema),
    ].filter((collect) => collect !== nothing);
    if (all.length < 2) return all[0] ?? nothing;
    return (value, ids) => {
      for (const collect of all) collect(value, ids);
    };
  }

  function ofReference($ref: string): Collect {
    const found = known.get($ref);
    if (found) return (value, ids) => found.collect(value, ids);
    const entry = { collect: nothing };
    known.set($ref, entry);
    entry.collect = ofSchema(follow(contract, { $ref }) as Node);
    return entry.collect;
  }

  function ofObject(properties: Record<string, Node>): Collect {
    const members = Object.entries(properties)
      .map(([name, one]) => [name, ofSchema(one)] as const)
      .filter(([, collect]) => collect !== nothing);
    const isFeatureResource = "resource" in properties && "id" in properties;
    if (members.length === 0 && !isFeatureResource) return nothing;
    return (value, ids) => {
      if (typeof value !== "object" || value === null) return;
      const object = value as Record<string, unknown>;
      if (isFeatureResource && typeof object.id === "string") ids.add(`${object.resource}/${object.id}`);
      for (const [name, collect] of members) if (object[name] !== undefined) collect(object[name], ids);
    };
  }

  return ofSchema(schema);
}

const ofItems = (collect: Collect): Collect =>
  collect === nothing
    ? nothing
    : (value, ids) => {
        if (Array.isArray(value)) for (const item of value) collect(item, ids);
      };
