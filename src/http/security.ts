import type { FastifyReply, FastifyRequest } from "fastify";
import type { Contract, Operation } from "../contract/operations.ts";

/** The authenticated caller. */
export interface Caller {
  scopes: ReadonlySet<string>;
  /** The claims of the access token. */
  claims: Readonly<Record<string, unknown>>;
}

/** Authenticates the caller. Throws an `HttpError`: 401 without valid credentials, 403 without the scopes. */
export type Authenticate = (request: FastifyRequest, scopes: string[]) => Promise<Caller>;

/** The authentication of each security scheme of a contract. */
export type Security = Record<string, Authenticate>;

declare module "fastify" {
  interface FastifyRequest {
    caller?: Caller | undefined;
  }
}

/** The security handlers of the binder. They have no prototype, since the binder also finds schemes there. */
export function securityHandlers(security: Security): object {
  const handlers = Object.entries(security).map(([scheme, authenticate]) => [
    scheme,
    async (request: FastifyRequest, _reply: FastifyReply, scopes: string[]) => {
      request.caller = await authenticate(request, scopes);
    },
  ]);
  return Object.assign(Object.create(null), Object.fromEntries(handlers));
}

/** A path through a document from its root. */
export type Place = string[];

/**
 * Everything in a contract that is about authentication: the schemes, the requirements of operations, and the responses
 * 401 and 403. Without these it is the contract of a service that runs without authentication.
 */
export function securityPlaces(contract: Contract, operations: Operation[]): Place[] {
  const ofOperations = operations.flatMap(({ path, method }): Place[] => {
    const operation = ["paths", path, method.toLowerCase()];
    const responses = securityStatuses.map((status) => [...operation, "responses", status]);
    return [
      [...operation, "security"],
      ...responses,
      ...responses.flatMap((response) => componentsAt(contract, response)),
    ];
  });
  const places = [["security"], ["components", "securitySchemes"], ...ofOperations];
  const distinct = new Map(places.map((place) => [place.join("\n"), place]));
  const existing = [...distinct.values()].filter((place) => isNotEmpty(nodeAt(contract, place)));
  // Other responses share some of their headers.
  const rest = JSON.stringify(withoutPlaces(contract, existing));
  return existing.filter((place) => !rest.includes(`"#/${place.join("/")}"`));
}

/** An operation of a service that runs without authentication. */
export function anonymousOperation(operation: Operation): Operation {
  const responses = Object.entries(operation.responses).filter(
    ([status]) => !securityStatuses.includes(status),
  );
  return { ...operation, security: [], responses: Object.fromEntries(responses) };
}

const securityStatuses = ["401", "403"];

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

/** The components to which the response at a place and its headers refer. */
function componentsAt(contract: Contract, place: Place): Place[] {
  const { $ref, headers = {} } = (nodeAt(contract, place) ?? {}) as { $ref?: string; headers?: object };
  const own = Object.keys(headers).flatMap((name) => componentsAt(contract, [...place, "headers", name]));
  if ($ref === undefined) return own;
  const component = $ref.split("/").slice(1);
  return [component, ...componentsAt(contract, component)];
}

const nodeAt = (document: object, place: Place) =>
  place.reduce<unknown>((node, step) => (node as Record<string, unknown> | undefined)?.[step], document);
