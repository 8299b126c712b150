import type { FastifyReply, FastifyRequest } from "fastify";
import { type Contract, operationsOf } from "../contract/operations.ts";

/** Who asks, as far as their credentials say. */
export interface Caller {
  scopes: ReadonlySet<string>;
  /** All that the issuer says of them. */
  claims: Readonly<Record<string, unknown>>;
}

/** Tells who asks before anything else of a request is looked at; throws a refusal when the scopes are not theirs. */
export type Authenticate = (request: FastifyRequest, scopes: string[]) => Promise<Caller>;

/** One for each security scheme of a contract. */
export type Security = Record<string, Authenticate>;

declare module "fastify" {
  interface FastifyRequest {
    caller?: Caller | undefined;
  }
}

/** The same as the binder takes them, which looks for schemes in prototypes, too. */
export function securityHandlers(security: Security): object {
  const handlers = Object.entries(security).map(([scheme, authenticate]) => [
    scheme,
    async (request: FastifyRequest, _reply: FastifyReply, scopes: string[]) => {
      request.caller = await authenticate(request, scopes);
    },
  ]);
  return Object.assign(Object.create(null), Object.fromEntries(handlers));
}

/** A way through a document, from its root. */
export type Place = string[];

/**
 * Where a contract speaks of credentials: the schemes, what operations ask for, and the answers 401 and 403. Without
 * these it is the contract of the same service that asks nobody who they are.
 */
export function securityPlaces(contract: Contract): Place[] {
  const ofOperations = operationsOf(contract).flatMap(({ path, method }): Place[] => {
    const operation = ["paths", path, method.toLowerCase()];
    const answers = ["401", "403"].map((status) => [...operation, "responses", status]);
    return [
      [...operation, "security"],
      ...answers,
      ...answers.flatMap((answer) => componentAt(contract, answer)),
    ];
  });
  const places = [["security"], ["components", "securitySchemes"], ...ofOperations];
  const distinct = new Map(places.map((place) => [place.join("\n"), place]));
  return [...distinct.values()].filter((place) => saysSomething(nodeAt(contract, place)));
}

/** A copy without what stands at these places; the document itself when there are none. */
export function without<Document extends object>(document: Document, places: Place[]): Document {
  if (places.length === 0) return document;
  const copy = structuredClone(document);
  for (const place of places) {
    const parent = nodeAt(copy, place.slice(0, -1)) as Record<string, unknown>;
    delete parent[place.at(-1) as string];
  }
  return copy;
}

/** That nothing is asked for says the same in either contract. */
const saysSomething = (node: unknown) => node !== undefined && !(Array.isArray(node) && node.length === 0);

const componentAt = (contract: Contract, place: Place): Place[] => {
  const { $ref } = (nodeAt(contract, place) ?? {}) as { $ref?: string };
  return $ref === undefined ? [] : [$ref.split("/").slice(1)];
};

const nodeAt = (document: object, place: Place) =>
  place.reduce<unknown>((node, step) => (node as Record<string, unknown> | undefined)?.[step], document);
