import type { FastifyReply, FastifyRequest } from "fastify";
import type { Operation } from "../../contract/operations.ts";
import { varyBy } from "../vary.ts";

/** Which pages of other origins can use the service (WHATWG Fetch, section 3.3). Credentials are in headers, not cookies. */
export interface Cors {
  /** Adds the headers of every response. */
  addHeaders(request: FastifyRequest, reply: FastifyReply): void;
  /** True for a request of a page whose origin can use the service. */
  isAllowed(request: FastifyRequest): boolean;
  /** True for a request by which a browser finds out whether a page may send another one. */
  isPreflight(request: FastifyRequest): boolean;
  /** Responds to it with the methods of its path. */
  sendPreflight(reply: FastifyReply, methods: string): FastifyReply;
}

declare module "fastify" {
  interface FastifyInstance {
    /** Undefined if no other origin may use the service. */
    cors?: Cors | undefined;
  }
}

/** Seconds for which a browser keeps the response to a preflight: as long as Chromium does at most. */
const maxAgeSeconds = 7200;

/** The sharing with these origins, or with all if they are `*`. Undefined without origins. */
export function openCors(origins: string[], operations: Operation[]): Cors | undefined {
  if (origins.length === 0) return undefined;
  const isForAll = origins.includes("*");
  const exposed = exposedHeaders(operations);
  const preflight = {
    // The wildcard does not include Authorization.
    "access-control-allow-headers": "Authorization, *",
    "access-control-max-age": String(maxAgeSeconds),
  };
  const allowedOrigin = ({ headers: { origin } }: FastifyRequest): string | undefined =>
    isForAll ? "*" : origins.find((one) => one === origin);
  return {
    addHeaders(request, reply) {
      if (!isForAll) varyBy(reply, "origin");
      const origin = allowedOrigin(request);
      if (origin === undefined) return;
      reply.header("access-control-allow-origin", origin);
      reply.header("access-control-expose-headers", exposed);
    },
    isAllowed: (request) => allowedOrigin(request) !== undefined,
    isPreflight(request) {
      const { origin, "access-control-request-method": method } = request.headers;
      const isComplete = request.method === "OPTIONS" && origin !== undefined && method !== undefined;
      return isComplete && allowedOrigin(request) !== undefined;
    },
    sendPreflight(reply, methods) {
      return reply
        .code(204)
        .headers({ ...preflight, "access-control-allow-methods": methods })
        .send();
    },
  };
}

/** The headers that the contract declares for responses, which scripts could not read without this. */
function exposedHeaders(operations: Operation[]): string {
  const responses = operations.flatMap((operation) => Object.values(operation.responses));
  const names = responses.flatMap(({ headers = {} }) => Object.keys(headers));
  return [...new Set(names)].sort().join(", ");
}
