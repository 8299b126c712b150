import type { FastifyReply, FastifyRequest } from "fastify";
import type { Operation } from "../contract/operations.ts";
import { type Logger, logsDebug } from "../process/log.ts";
import type { Owner } from "../waiting/owner.ts";
import { acceptMax, preferredType } from "./accept.ts";
import { HttpError } from "./http-error.ts";
import { isHost } from "./limits/connections.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** The URL of the service for callers, without a slash at its end. Default: that of each request. */
    publicUrl?: string | undefined;
  }
}

/** Why a signal aborts. Without a reason each signal would create an error, which costs time when many clients leave. */
const disconnection = new Error("the client has disconnected");

/** An operation as its requests need it. */
export type Endpoint = ReturnType<typeof endpointOf>;

export const endpointOf = ({ parameters, responses }: Operation, log: Logger, closing: AbortSignal) => ({
  headerNames: parameters.filter((one) => one.in === "header").map(({ name }) => name),
  /** The media types of status 200. */
  mediaTypes: Object.keys(responses[200]?.content ?? {}),
  log,
  /** A child of the log for each request costs more than a small handler. Handlers log at `debug` only. */
  logsRequests: logsDebug(log),
  closing,
});

/** The request of a handler (`handlers.ts`). Members that cost something are computed at each use. */
export class HandlerRequest {
  readonly #reply: FastifyReply;
  readonly #endpoint: Endpoint;
  readonly owner: Owner;

  constructor(reply: FastifyReply, endpoint: Endpoint, owner: Owner) {
    this.#reply = reply;
    this.#endpoint = endpoint;
    this.owner = owner;
  }
  get path() {
    return this.#reply.request.params;
  }
  get query() {
    return this.#reply.request.query;
  }
  get headers() {
    const { headers } = this.#reply.request;
    return Object.fromEntries(this.#endpoint.headerNames.map((name) => [name, headers[name.toLowerCase()]]));
  }
  get body() {
    return this.#reply.request.body;
  }
  get caller() {
    return this.#reply.request.caller;
  }
  get log() {
    const { log, logsRequests } = this.#endpoint;
    return logsRequests ? log.child({ requestId: this.#reply.request.id }) : log;
  }
  get parametersInBody() {
    return this.#reply.request.method === "QUERY";
  }
  get url() {
    const { request } = this.#reply;
    return originOf(request) + request.url.split("?")[0];
  }
  get serviceUrl() {
    return originOf(this.#reply.request);
  }
  get mediaType() {
    const { mediaTypes } = this.#endpoint;
    if (mediaTypes.length < 2) return mediaTypes[0];
    const { accept = "*/*" } = this.#reply.request.headers;
    if (accept.length > acceptMax) {
      const detail = `the header Accept is longer than ${acceptMax} characters`;
      throw new HttpError(400, [{ header: "Accept", rule: { maxLength: acceptMax }, detail }]);
    }
    return preferredType(accept, mediaTypes) ?? mediaTypes[0];
  }
  get signal() {
    const disconnected = new AbortController();
    this.#reply.raw.once("close", () => disconnected.abort(disconnection));
    return AbortSignal.any([this.#endpoint.closing, disconnected.signal]);
  }
}

/**
 * The URL to which the caller sent the request, without the path, for example `http://ledger.test:8081`. A proxy that is
 * trusted can state another protocol and host.
 */
export function originOf(request: FastifyRequest): string {
  const { server, protocol, host, socket, headers } = request;
  if (server.publicUrl !== undefined) return server.publicUrl;
  const scheme = protocol === "https" ? "https" : "http";
  // The header Host is valid. That of a proxy may not be.
  const authority = host === headers.host || isHost(host) ? host : headers.host;
  return `${scheme}://${authority || `${socket.localAddress}:${socket.localPort}`}`;
}
