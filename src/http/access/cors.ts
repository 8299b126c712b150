import type { FastifyReply, FastifyRequest } from "fastify";
import { type Contract, generalResponses, type Operation } from "../../contract/operations.ts";
import { varyBy } from "../vary.ts";

export type Cors = NonNullable<ReturnType<typeof openCors>>;

declare module "fastify" {
  interface FastifyInstance {
    /** Undefined if no other origin may use the service. */
    cors?: Cors | undefined;
  }
}

/** Seconds for which a browser keeps the response to a preflight: as long as Chromium does at most. */
const maxAgeSeconds = 7200;

/**
 * Lets pages of these origins use the service, or of all if they are `*` (WHATWG Fetch, section 3.3). Credentials are in
 * headers, not cookies. Undefined without origins.
 */
export function openCors(origins: string[], contract: Contract, operations: Operation[]) {
  if (origins.length === 0) return undefined;
  const isForAll = origins.includes("*");
  const exposed = exposedHeaders(contract, operations);
  const allowedOrigin = ({ headers: { origin } }: FastifyRequest): string | undefined =>
    isForAll ? "*" : origins.find((one) => one === origin);
  return {
    /** Adds the headers of every response. */
    addHeaders(request: FastifyRequest, reply: FastifyReply): void {
      if (!isForAll) varyBy(reply, "origin");
      const origin = allowedOrigin(request);
      if (origin === undefined) return;
      reply.header("access-control-allow-origin", origin);
      reply.header("access-control-expose-headers", exposed);
    },
    /** True for a request of a page whose origin can use the service. */
    isAllowed: (request: FastifyRequest) => allowedOrigin(request) !== undefined,
    /** True for a request by which a browser finds out whether a page may send another one. */
    isPreflight(request: FastifyRequest): boolean {
      const { origin, "access-control-request-method": method } = request.headers;
      const isComplete = request.method === "OPTIONS" && origin !== undefined && method !== undefined;
      return isComplete && allowedOrigin(request) !== undefined;
    },
  };
}

/** Responds to a preflight with the methods of its path. */
export const sendPreflight = (reply: FastifyReply, methods: string): FastifyReply =>
  reply
    .code(204)
    .headers({
      "access-control-allow-methods": methods,
      // The wildcard does not include Authorization.
      "access-control-allow-headers": "Authorization, *",
      "access-control-max-age": String(maxAgeSeconds),
    })
    .send();

/** The headers that the contract declares for responses, which scripts could not read without this. */
function exposedHeaders(contract: Contract, operations: Operation[]): string {
  const responses = [generalResponses(contract), ...operations.map((operation) => operation.responses)];
  const names = responses.flatMap(Object.values).flatMap(({ headers = {} }) => Object.keys(headers));
  return [...new Set(names)].sort().join(", ");
}
