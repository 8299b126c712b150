import { type Contract, type Operation, operationsOf } from "./operations.ts";

/** A path through a document from its root. */
export type Place = string[];

/** The part of a contract that a service serves. */
export type ServedContract = ReturnType<typeof servedContract>;

/**
 * The contract without the optional operations that have no handler. If the service runs without authentication, the
 * contract is also without the security schemes, the requirements of operations, and the responses, headers and kinds of
 * problems that reject a token. Components to which only these refer are left out, too.
 */
export function servedContract(written: Contract, isHandled: (id: string) => boolean, isAnonymous: boolean) {
  const { served = [], notServed = [] } = Object.groupBy(operationsOf(written), (operation) =>
    operation.enabledBy === undefined || isHandled(operation.operationId) ? "served" : "notServed",
  );
  const places = [
    ...placesOfOperations(notServed, served),
    ...(isAnonymous ? placesOfSecurity(written, served) : []),
  ].filter((place) => isNotEmpty(nodeAt(written, place)));
  const rest = componentsOf(withoutPlaces(written, places));
  const unused = [...componentsOf(written)].flatMap(([key, place]) => (rest.has(key) ? [] : [place]));
  const leftOut = [...places, ...unused];
  return {
    contract: leftOut.length > 0 ? withoutPlaces(written, leftOut) : written,
    operations: isAnonymous ? served.map(withoutSecurity) : served,
    /** The optional operations of the written contract that are not served. */
    notServed,
    /** The places of the written contract that `contract` does not have. */
    leftOut,
  };
}

function placesOfOperations(notServed: Operation[], served: Operation[]): Place[] {
  const servedPaths = new Set(served.map(({ path }) => path));
  return notServed.map((operation) =>
    servedPaths.has(operation.path) ? placeOf(operation) : ["paths", operation.path],
  );
}

/** The statuses of an operation that are about authentication. A change also gets 403 if it is from a foreign page. */
const securityStatusesOf = ({ method }: Operation) => (method === "GET" ? ["401", "403"] : ["401"]);

const challenge = "WWW-Authenticate";

/** The kinds of problems that are about authentication. */
const securityProblems = ["unauthorized", "forbidden"];

function placesOfSecurity({ components }: Contract, served: Operation[]): Place[] {
  const ofOperations = served.flatMap((operation) => [
    [...placeOf(operation), "security"],
    ...securityStatusesOf(operation).map((status) => [...placeOf(operation), "responses", status]),
  ]);
  const responses = Object.keys(components?.responses ?? {});
  const challenges = responses.map((name) => ["components", "responses", name, "headers", challenge]);
  const problems = securityProblems.map((name) => ["x-problems", name]);
  return [["security"], ["components", "securitySchemes"], ...problems, ...ofOperations, ...challenges];
}

function withoutSecurity(operation: Operation): Operation {
  const statuses = securityStatusesOf(operation);
  const responses = Object.entries(operation.responses).filter(([status]) => !statuses.includes(status));
  return { ...operation, security: [], responses: Object.fromEntries(responses) };
}

const placeOf = ({ path, key }: Operation): Place => ["paths", path, key];

/** A copy of a contract without the nodes at these places. */
function withoutPlaces(contract: Contract, places: Place[]): Contract {
  const copy = structuredClone(contract);
  for (const place of places) {
    const parent = nodeAt(copy, place.slice(0, -1)) as Record<string, unknown>;
    delete parent[place.at(-1) as string];
  }
  return copy;
}

/**
 * A contract with these values at these places, and the values that are new there. A contract that has them all is not
 * copied.
 */
export function withValues(contract: Contract, given: [Place, unknown][]) {
  const values = given.filter(([place, value]) => nodeAt(contract, place) !== value);
  if (values.length === 0) return { contract, values };
  const copy = structuredClone(contract);
  for (const [place, value] of values) {
    const parent = nodeAt(copy, place.slice(0, -1)) as Record<string, unknown>;
    parent[place.at(-1) as string] = value;
  }
  return { contract: copy, values };
}

/** `security: []` means the same in both contracts. */
const isNotEmpty = (node: unknown) => node !== undefined && !(Array.isArray(node) && node.length === 0);

/** The components to which the other parts of a contract refer, directly or through components. */
function componentsOf({ components, ...rest }: Contract): Map<string, Place> {
  const found = new Map<string, Place>();
  const follow = (node: unknown): void => {
    for (const [reference, kind = "", name = ""] of JSON.stringify(node).matchAll(componentReference)) {
      if (found.has(reference)) continue;
      found.set(reference, ["components", kind, name]);
      follow(nodeAt({ components }, ["components", kind, name]) ?? null);
    }
  };
  follow(rest);
  return found;
}

const componentReference = /"#\/components\/(\w+)\/(\w+)/g;

const nodeAt = (document: object, place: Place) =>
  place.reduce<unknown>((node, step) => (node as Record<string, unknown> | undefined)?.[step], document);
