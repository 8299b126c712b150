import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "../process/log.ts";
import { isJson, toJson } from "../values/json.ts";
import type { Owner } from "../waiting/owner.ts";
import { inTurnsOf, mapInTurns } from "../waiting/turns.ts";
import { ownerOf } from "./access/owner.ts";
import { hasExpired } from "./access/security.ts";
import { chooseEncoding, compress, compressedMin, compressingStream, type Encoding } from "./compression.ts";
import { completeProblem } from "./problem.ts";

/** A longer array becomes JSON in turns of the event loop. */
const arrayMax = 1000;

export const isLongArray = (body: unknown): body is unknown[] =>
  Array.isArray(body) && body.length > arrayMax;

/** A body as JSON, which it can already be. */
export const jsonOf = (body: unknown): string | Buffer => (Buffer.isBuffer(body) ? body : toJson(body));

/**
 * Sends a body: a JSON type as JSON with every member, a text as it is, an iterable of texts or of parts of an array as a
 * stream. If the iterable throws, the connection is closed without the final chunk, so that the caller notices.
 */
export function sendBody(reply: FastifyReply, type: string, body: unknown, log: Logger): FastifyReply {
  if (body === undefined) return reply.send();
  if (isLongArray(body)) return sendLongArray(reply, type, body);
  const isParts = typeof body === "object" && body !== null && Symbol.asyncIterator in body;
  if (isJson(type) && isParts) return sendStream(reply, type, arrayOf(body as AsyncIterable<unknown[]>), log);
  if (isJson(type))
    return sendText(
      reply,
      type,
      jsonOf(completeProblem(type, body, reply.request.id, reply.server.publicUrl)),
    );
  if (typeof body === "string" || Buffer.isBuffer(body)) return sendText(reply, type, body);
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

function sendStream(reply: FastifyReply, type: string, texts: AsyncIterable<string | Buffer>, log: Logger) {
  const { id: requestId, method, routeOptions } = reply.request;
  const isOfEvents = type === "text/event-stream";
  const parts = method === "HEAD" ? [] : partsFor(reply.request, texts, isOfEvents);
  // Holds one text at a time. The default is 16, whatever their lengths.
  const stream = Readable.from(parts, { objectMode: false });
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

/**
 * The parts of a response. Each is produced in the turns of the caller, whatever reads it. A stream of events ends when the
 * token of the caller has expired. One without events has a heartbeat, so it ends soon after.
 */
async function* partsFor<Part>(request: FastifyRequest, parts: AsyncIterable<Part>, isOfEvents: boolean) {
  const owner = ownerOf(request);
  const claims = isOfEvents ? request.caller?.claims : undefined;
  const iterator = parts[Symbol.asyncIterator]();
  const next = () => inTurnsOf(owner, () => iterator.next());
  try {
    for (let part = await next(); !part.done; part = await next()) {
      if (claims && hasExpired(claims)) return;
      yield part.value;
    }
  } finally {
    await iterator.return?.();
  }
}

function sendLongArray(reply: FastifyReply, type: string, body: unknown[]): FastifyReply {
  longArrayAsJson(ownerOf(reply.request), body).then(
    (text) => sendText(reply, type, text),
    (error) => reply.send(error),
  );
  return reply;
}

/** An array as JSON, in the turns of the caller. */
export async function longArrayAsJson(owner: Owner, body: unknown[]): Promise<string> {
  const elements = await inTurnsOf(owner, () => mapInTurns(body, (element) => JSON.stringify(element)));
  return `[${elements}]\n`;
}

export function sendText(reply: FastifyReply, type: string, text: string | Buffer): FastifyReply {
  reply.type(type === json ? jsonInUtf8 : `${type}; charset=utf-8`);
  if (text.length < compressedMin) return reply.send(text);
  return sendCompressed(reply, text, (encoding) => compress(ownerOf(reply.request), encoding, text));
}

/** Sends a body that is large enough to be compressed, if the client accepts an encoding. */
export function sendCompressed(
  reply: FastifyReply,
  body: string | Buffer,
  compressed: (encoding: Encoding) => Promise<Buffer>,
): FastifyReply {
  const encoding = chooseEncoding(reply);
  if (!encoding) return reply.send(body);
  compressed(encoding).then(
    (bytes) => reply.header("content-encoding", encoding).send(bytes),
    (error) => reply.send(error),
  );
  return reply;
}

export const json = "application/json";
/** Concatenated once, since every response needs it. */
const jsonInUtf8 = `${json}; charset=utf-8`;
