import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import fresh from "fresh";
import Negotiator from "negotiator";
import type { Operation } from "../contract/operations.ts";
import type { Logger } from "../process/log.ts";
import { isJson, toJson } from "../values/json.ts";
import { entityTag } from "./entity-tag.ts";

/** A handler whose operation is not known any more. */
export type AnyHandler = (request: object) => Promise<AnyReply>;

interface AnyReply {
  status: number;
  type?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Binds a handler to the route of its operation: the only place where a handler meets the framework. */
export function answerWith(
  handler: AnyHandler,
  { parameters, responses }: Operation,
  log: Logger,
  closing: AbortSignal,
) {
  const mediaTypes = Object.keys(responses[200]?.content ?? {});
  const [only, ...others] = mediaTypes;
  const headerNames = parameters.filter((one) => one.in === "header").map(({ name }) => name);
  const isTagged = responses[200]?.headers?.ETag !== undefined;
  const isConditional = responses[304] !== undefined;
  const tellsRequests = log.level === "debug" || log.level === "trace";

  /** What a handler is told. What costs something is found out when it is asked for. */
  class Asked {
    readonly #reply: FastifyReply;

    constructor(reply: FastifyReply) {
      this.#reply = reply;
    }
    get path() {
      return this.#reply.request.params;
    }
    get query() {
      return this.#reply.request.query;
    }
    get headers() {
      const { headers } = this.#reply.request;
      return Object.fromEntries(headerNames.map((name) => [name, headers[name.toLowerCase()]]));
    }
    get body() {
      return this.#reply.request.body;
    }
    get caller() {
      return this.#reply.request.caller;
    }
    get log() {
      return tellsRequests ? log.child({ reqId: this.#reply.request.id }) : log;
    }
    get url() {
      const { request } = this.#reply;
      return originOf(request) + request.url.split("?")[0];
    }
    get mediaType() {
      if (others.length === 0) return only;
      return new Negotiator(this.#reply.request.raw).mediaType(mediaTypes) ?? only;
    }
    get ended() {
      const gone = new AbortController();
      this.#reply.raw.once("close", () => gone.abort());
      return AbortSignal.any([closing, gone.signal]);
    }
  }

  function send(reply: FastifyReply, given: AnyReply): void {
    const { status, type = json, headers, body } = given;
    if (others.length > 0) reply.header("vary", "accept");
    reply.code(status);
    if (headers) reply.headers(headers);
    if (!isTagged || status !== 200 || !isJson(type)) return void sendReply(reply, type, body, log);
    const text = toJson(body);
    const etag = entityTag(text);
    reply.header("etag", etag);
    if (isConditional && fresh(reply.request.headers, { etag })) reply.code(304).send();
    else sendText(reply, type, text);
  }

  return function answer(_request: FastifyRequest, reply: FastifyReply): void {
    handler(new Asked(reply))
      .then((given) => send(reply, given))
      .catch((error) => reply.send(error));
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
export function sendReply(reply: FastifyReply, type: string, body: unknown, log: Logger): FastifyReply {
  if (body === undefined) return reply.send();
  if (isJson(type)) return sendText(reply, type, toJson(body));
  if (typeof body === "string") return sendText(reply, type, body);
  const { method, routeOptions } = reply.request;
  const pieces = Readable.from(method === "HEAD" ? [] : (body as AsyncIterable<string>));
  pieces.on("error", (err) => log.error({ err, method, route: routeOptions.url }, "a reply broke off"));
  return reply.type(`${type}; charset=utf-8`).send(pieces);
}

const sendText = (reply: FastifyReply, type: string, text: string) =>
  reply.type(type === json ? jsonInUtf8 : `${type}; charset=utf-8`).send(text);

const json = "application/json";
/** Put together once: the framework looks at it with every reply. */
const jsonInUtf8 = `${json}; charset=utf-8`;
