import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import { toJson } from "./json.ts";

/** A handler whose operation is not known any more. */
export type AnyHandler = (request: object) => Promise<{
  status: number;
  type?: string;
  headers?: Record<string, string>;
  body?: unknown;
}>;

/**
 * Binds a handler to its route: the only place where a handler meets the framework. The media types are those its
 * operation declares for status 200.
 */
export function answerWith(handler: AnyHandler, mediaTypes: string[]) {
  const [only, ...others] = mediaTypes;
  return async function answer(request: FastifyRequest, reply: FastifyReply) {
    const {
      status,
      type = "application/json",
      headers = {},
      body,
    } = await handler({
      path: request.params,
      query: request.query,
      body: request.body,
      caller: request.caller,
      log: request.log,
      get url() {
        return originOf(request) + request.url.split("?")[0];
      },
      get mediaType() {
        return others.length > 0 ? (new Negotiator(request.raw).mediaType(mediaTypes) ?? only) : only;
      },
    });
    if (others.length > 0) reply.header("vary", "accept");
    return sendReply(reply.code(status).headers(headers), type, body);
  };
}

/** Where the caller found this service, for example `http://ledger.test:8081`. */
export function originOf({ protocol, host, socket }: FastifyRequest): string {
  return `${protocol}://${host || `${socket.localAddress}:${socket.localPort}`}`;
}

/**
 * Sends a body as its media type wants it: JSON is written with every member it has, text goes as it is, in pieces when
 * it comes in pieces. A piece that fails ends the connection, so that the caller sees that something is missing.
 */
export function sendReply(reply: FastifyReply, type: string, body: unknown): FastifyReply {
  if (body === undefined) return reply.send();
  reply.type(`${type}; charset=utf-8`);
  if (type.endsWith("json")) return reply.send(toJson(body));
  if (typeof body === "string") return reply.send(body);
  const { method, routeOptions, log } = reply.request;
  const pieces = Readable.from(method === "HEAD" ? [] : (body as AsyncIterable<string>));
  pieces.on("error", (err) => log.error({ err, method, route: routeOptions.url }, "a reply broke off"));
  return reply.send(pieces);
}
