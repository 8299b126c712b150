import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import fresh from "fresh";
import Negotiator from "negotiator";
import type { Operation } from "../contract/operations.ts";
import { type Logger, logsDebug } from "../process/log.ts";
import { isJson, toJson } from "../values/json.ts";
import type { Owner } from "../waiting/owner.ts";
import { inTurnsOf, mapInTurns } from "../waiting/turns.ts";
import { ownerOf } from "./access/owner.ts";
import { type Caller, hasExpired } from "./access/security.ts";
import { chooseEncoding, compress, compressedMin, compressingStream, type Encoding } from "./compression.ts";
import { entityTag } from "./entity-tag.ts";
import { HttpError, unavailable } from "./http-error.ts";
import { isHost } from "./limits/connections.ts";
import type { InFlight } from "./limits/overload.ts";
import { respondsTo } from "./limits/unsent.ts";
import type { Outages } from "./outages.ts";
import { withRequestId } from "./request-id.ts";
import { varyBy } from "./vary.ts";

/** Why a signal aborts. Without a reason each signal would create an error, which costs time when many clients leave. */
const disconnection = new Error("the client has disconnected");

/** A handler without the types of its operation. */
export type AnyHandler = (request: object) => Promise<AnyResponse>;

interface AnyResponse {
  status: number;
  type?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface RouteParts {
  log: Logger;
  closing: AbortSignal;
  /** Default: the requests are not counted. */
  inFlight?: InFlight;
  /** Default: a success does not end an outage. */
  outages?: Outages;
}

/** Makes a handler a route handler. This is the only place where a handler meets the framework. */
export function routeHandler(
  handler: AnyHandler,
  { parameters, responses }: Operation,
  { log, closing, inFlight, outages }: RouteParts,
) {
  const mediaTypes = Object.keys(responses[200]?.content ?? {});
  const [only, ...others] = mediaTypes;
  const headerNames = parameters.filter((one) => one.in === "header").map(({ name }) => name);
  const hasEntityTag = responses[200]?.headers?.ETag !== undefined;
  const isConditional = responses[304] !== undefined;
  // A child of the log for each request costs more than a small handler. Handlers log at `debug` only.
  const logsRequests = logsDebug(log);

  /** The request of a handler (`handlers.ts`). Members that cost something are computed at their first use. */
  class RequestContext {
    readonly #reply: FastifyReply;
    readonly owner: Owner;

    constructor(reply: FastifyReply, owner: Owner) {
      this.#reply = reply;
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
      return Object.fromEntries(headerNames.map((name) => [name, headers[name.toLowerCase()]]));
    }
    get body() {
      return this.#reply.request.body;
    }
    get caller() {
      return this.#reply.request.caller;
    }
    get log() {
      return logsRequests ? log.child({ requestId: this.#reply.request.id }) : log;
    }
    get url() {
      const { request } = this.#reply;
      return originOf(request) + request.url.split("?")[0];
    }
    get serviceUrl() {
      return originOf(this.#reply.request);
    }
    get mediaType() {
      if (others.length === 0) return only;
      const { accept = "*/*" } = this.#reply.request.headers;
      if (accept.length > acceptMax) {
        throw new HttpError(400, [`the header Accept is longer than ${acceptMax} characters`]);
      }
      const headers = { accept: accept.replaceAll(mediaTypeParameters, "") };
      return new Negotiator({ headers }).mediaType(mediaTypes) ?? only;
    }
    get signal() {
      const disconnected = new AbortController();
      this.#reply.raw.once("close", () => disconnected.abort(disconnection));
      return AbortSignal.any([closing, disconnected.signal]);
    }
  }

  function send(reply: FastifyReply, { status, type = json, headers, body }: AnyResponse): void {
    if (others.length > 0) varyBy(reply, "accept");
    reply.code(status);
    if (headers) reply.headers(headers);
    if (!hasEntityTag || status !== 200 || !isJson(type)) return void sendBody(reply, type, body, log);
    const text = toJson(body);
    const etag = entityTag(text);
    reply.header("etag", etag);
    if (!isConditional || !fresh(reply.request.headers, { etag })) return void sendText(reply, type, text);
    // A cache keeps the Vary of the response that the 304 stands for (RFC 9110, section 15.4.5).
    if (text.length >= compressedMin) varyBy(reply, "accept-encoding");
    reply.code(304).send();
  }

  async function respond(reply: FastifyReply, caller: Owner): Promise<void> {
    respondsTo(reply.request.raw.socket, caller);
    if (inFlight?.enter(caller) === false) return void reply.send(overloaded());
    try {
      const response = await handler(new RequestContext(reply, caller));
      outages?.succeeded();
      send(reply, response);
    } catch (error) {
      reply.send(error);
    } finally {
      inFlight?.leave(caller);
    }
  }

  // The framework would wait for a promise, and send what it resolves with.
  return (_request: FastifyRequest, reply: FastifyReply): void => {
    const caller = ownerOf(reply.request);
    void inTurnsOf(caller, () => respond(reply, caller));
  };
}

const overloaded = () =>
  unavailable("too many requests are in flight, of this caller or of all; try again later");

declare module "fastify" {
  interface FastifyInstance {
    /** The URL of the service for callers, without a slash at its end. Default: that of each request. */
    publicUrl?: string | undefined;
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

/** A longer array becomes JSON in turns of the event loop. */
const arrayMax = 1000;

/**
 * Sends a body: a JSON type as JSON with every member, a text as it is, an iterable of texts or of parts of an array as a
 * stream. If the iterable throws, the connection is closed without the final chunk, so that the caller notices.
 */
export function sendBody(reply: FastifyReply, type: string, body: unknown, log: Logger): FastifyReply {
  if (body === undefined) return reply.send();
  if (Array.isArray(body) && body.length > arrayMax) return sendLongArray(reply, type, body);
  const isParts = typeof body === "object" && body !== null && Symbol.asyncIterator in body;
  if (isJson(type) && isParts) return sendStream(reply, type, arrayOf(body as AsyncIterable<unknown[]>), log);
  if (isJson(type)) return sendText(reply, type, toJson(withRequestId(type, body, reply.request.id)));
  if (typeof body === "string") return sendText(reply, type, body);
  return sendStream(reply, type, body as AsyncIterable<string | Buffer>, log);
}

/** The text of a JSON array, in the parts in which it is produced. */
async function* arrayOf(parts: AsyncIterable<unknown[]>): AsyncGenerator<string, void, void> {
  let before = "[";
  for await (const part of parts) {
    if (part.length === 0) continue;
    yield before + toJson(part).trimEnd().slice(1, -1);
    before = ",";
  }
  yield before === "[" ? "[]\n" : "]\n";
}

function sendStream(
  reply: FastifyReply,
  type: string,
  texts: AsyncIterable<string | Buffer>,
  log: Logger,
): FastifyReply {
  const { method, routeOptions, caller } = reply.request;
  const isOfEvents = type === "text/event-stream";
  const permitted = isOfEvents && caller ? untilExpiry(caller, texts) : texts;
  const ofCaller = eachInTurnsOf(ownerOf(reply.request), permitted);
  // Holds one text at a time. The default is 16, whatever their lengths.
  const stream = Readable.from(method === "HEAD" ? [] : ofCaller, { objectMode: false });
  const { id: requestId } = reply.request;
  stream.on("error", (err) =>
    log.error({ err, requestId, method, route: routeOptions.url }, "a response was cut off"),
  );
  reply.type(`${type}; charset=utf-8`);
  // With its defaults nginx would hold back the events until it has some kilobytes of them.
  if (isOfEvents) reply.header("x-accel-buffering", "no");
  // A stream of changes stays open for long, and many clients share its pieces.
  const encoding = type === "text/csv" || isJson(type) ? chooseEncoding(reply) : undefined;
  if (!encoding) return reply.send(stream);
  const compressing = compressingStream(encoding);
  pipeline(stream, compressing).catch(() => {});
  return reply.header("content-encoding", encoding).send(compressing);
}

/** The parts of a response. Each is produced in the turns of the caller, whatever reads it. */
async function* eachInTurnsOf<Part>(
  caller: Owner,
  parts: AsyncIterable<Part>,
): AsyncGenerator<Part, void, void> {
  const iterator = parts[Symbol.asyncIterator]();
  const next = () => inTurnsOf(caller, () => iterator.next());
  try {
    for (let part = await next(); !part.done; part = await next()) yield part.value;
  } finally {
    await iterator.return?.();
  }
}

/**
 * The parts of a stream of events, until the token of the caller expires. A stream without events has a heartbeat, so it
 * ends soon after.
 */
async function* untilExpiry<Part>(
  caller: Caller,
  parts: AsyncIterable<Part>,
): AsyncGenerator<Part, void, void> {
  for await (const part of parts) {
    if (hasExpired(caller.claims)) return;
    yield part;
  }
}

function sendLongArray(reply: FastifyReply, type: string, body: unknown[]): FastifyReply {
  mapInTurns(body, (element) => JSON.stringify(element)).then(
    (elements) => sendText(reply, type, `[${elements}]\n`),
    (error) => reply.send(error),
  );
  return reply;
}

function sendText(reply: FastifyReply, type: string, text: string): FastifyReply {
  reply.type(type === json ? jsonInUtf8 : `${type}; charset=utf-8`);
  return text.length < compressedMin ? reply.send(text) : sendCompressed(reply, text, compressFor(reply));
}

/** Sends a body that is large enough to be compressed, if the client accepts an encoding. */
export function sendCompressed(
  reply: FastifyReply,
  body: string | Buffer,
  compressed: (encoding: Encoding, body: string | Buffer) => Promise<Buffer>,
): FastifyReply {
  const encoding = chooseEncoding(reply);
  if (!encoding) return reply.send(body);
  compressed(encoding, body).then(
    (bytes) => reply.header("content-encoding", encoding).send(bytes),
    (error) => reply.send(error),
  );
  return reply;
}

const compressFor =
  ({ request }: FastifyReply) =>
  (encoding: Encoding, body: string | Buffer) =>
    compress(ownerOf(request), encoding, body);

/** The parameters of media types but `q`, such as a charset: the service has one form of each type. */
const mediaTypeParameters = /;(?!\s*q\s*=)[^;,]*/gi;

/** A longer one takes long to parse. */
const acceptMax = 2000;

const json = "application/json";
/** Concatenated once, since every response needs it. */
const jsonInUtf8 = `${json}; charset=utf-8`;
