import type { Contract, Operation } from "./operations.ts";

/** A path through a document from its root. */
export type Place = string[];

/** What a service does not serve of its contract. */
export interface NotServed {
  operations: Operation[];
  /** True if the service runs without authentication. */
  security: boolean;
}

/** The statuses of an operation that are about authentication. A change also gets 403 if it is from a foreign page. */
const securityStatusesOf = (method: string) => (method.toUpperCase() === "GET" ? ["401", "403"] : ["401"]);
const challenge = "WWW-Authenticate";

/**
 * The places of everything in a contract that is about operations which are not served, or about authentication: the
 * schemes, the requirements of operations, and the responses and headers that reject a token. Components to which only these
 * refer are among them. Without these places it is the contract of the service.
 */
export function placesLeftOut(contract: Contract, written: Operation[], notServed: NotServed): Place[] {
  const isServed = (operation: Operation) => !notServed.operations.includes(operation);
  const servedPaths = new Set(written.filter(isServed).map(({ path }) => path));
  const ofOperations = notServed.operations.map(({ path, method }) =>
    servedPaths.has(path) ? placeOf(path, method) : ["paths", path],
  );
  const ofSecurity = written
    .filter(isServed)
    .flatMap(({ path, method }) => [
      [...placeOf(path, method), "security"],
      ...securityStatusesOf(method).map((status) => [...placeOf(path, method), "responses", status]),
    ]);
  const challenges = Object.keys(contract.components?.responses ?? {}).map((name) => [
    ...["components", "responses", name, "headers"],
    challenge,
  ]);
  const places = [
    ...ofOperations,
    ...(notServed.security
      ? [["security"], ["components", "securitySchemes"], ...ofSecurity, ...challenges]
      : []),
  ].filter((place) => isNotEmpty(nodeAt(contract, place)));
  const rest = componentsOf(withoutPlaces(contract, places));
  return [
    ...places,
    ...[...componentsOf(contract)].flatMap(([key, place]) => (rest.has(key) ? [] : [place])),
  ];
}

const placeOf = (path: string, method: string): Place => ["paths", path, method.toLowerCase()];

/** An operation of a service that runs without authentication. */
export function anonymousOperation(operation: Operation): Operation {
  const responses = Object.entries(operation.responses).filter(
    ([status]) => !securityStatusesOf(operation.method).includes(status),
  );
  return { ...operation, security: [], responses: Object.fromEntries(responses) };
}

/** A copy of a document without the nodes at these places. */
export function withoutPlaces<Document extends object>(document: Document, places: Place[]): Document {
  const copy = structuredClone(document);
  for (const place of places) {
    const parent = nodeAt(copy, place.slice(0, -1)) as Record<string, unknown>;
    delete parent[place.at(-1) as string];
  }
  return copy;
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
