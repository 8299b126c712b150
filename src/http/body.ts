import { isUtf8 } from "node:buffer";
import type { Readable } from "node:stream";
import type {
  FastifyInstance,
  FastifyRequest,
  onRequestHookHandler,
  preParsingHookHandler,
  preValidationHookHandler,
} from "fastify";
import { exceededBound, parseJson } from "../values/json.ts";
import { openLane } from "../waiting/lane.ts";
import type { Owner } from "../waiting/owner.ts";
import { inTurnsOf, letOthersRun } from "../waiting/turns.ts";
import { ownerOf } from "./access/owner.ts";
import { bodyMustBeJson } from "./errors.ts";
import { bodyFault } from "./failure.ts";
import { HttpError, overloaded } from "./http-error.ts";

/** Maximum bytes of a request body; `errors.ts` has the message. */
export const bodyMaxBytes = 2 ** 20;

/** A body of more bytes is parsed in a turn of its own. */
const largeBytes = 2 ** 16;
/** Maximum number of bodies that wait for it if each has more bytes than this. */
const waitingMax = 20;
const veryLargeBytes = 2 ** 18;
/** More than the longest list of any contract has. */
const membersMax = 10_000;

/**
 * Accepts bodies of JSON in UTF-8 only. The framework's own parser ignores the charset and the content encoding, and
 * replaces invalid bytes by U+FFFD.
 */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // Many large bodies can arrive at the same time.
  const lane = openLane({
    runningMax: 3,
    waitingMax,
    limitMs: 30_000,
    busy: overloaded("too many requests with large bodies are in flight; try again later"),
  });
  async function parse(request: FastifyRequest, body: Buffer): Promise<unknown> {
    if (body.length <= largeBytes) return readBody(request, body);
    const caller = ownerOf(request);
    async function parseInTurn() {
      await inTurnsOf(caller, letOthersRun);
      return readBody(request, body);
    }
    return body.length > veryLargeBytes ? lane.run(caller, parseInTurn) : parseInTurn();
  }
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, parse);
}

/** Maximum number of bytes of all bodies that are still being received. */
const arrivingMaxBytes = 32 * 2 ** 20;

/** The bodies of a caller that are still being received. */
interface Arriving {
  total: number;
  /** The bytes of each body. Those that got something most recently are last. */
  bodies: Map<Readable, number>;
}

/**
 * Bounds the memory of bodies that are still being received, so that clients that never complete their requests do not take
 * the memory. Beyond the limit it closes a connection of the caller with the most bytes: that whose body has got nothing for
 * the longest time.
 */
export function limitArriving(): preParsingHookHandler {
  const byCaller = new Map<Owner, Arriving>();
  let total = 0;

  return (request, _reply, payload, done) => {
    const { headers } = request;
    if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined) {
      // Node.js has already ended such a body (`optimizeEmptyRequests`). The framework would wait for its end.
      delete headers["content-type"];
      return done(null, payload);
    }
    const caller = ownerOf(request);
    const own = byCaller.get(caller) ?? { total: 0, bodies: new Map() };
    byCaller.set(caller, own);
    own.bodies.set(payload, 0);
    const end = () => {
      const bytes = own.bodies.get(payload) ?? 0;
      total -= bytes;
      own.total -= bytes;
      if (own.bodies.delete(payload) && own.bodies.size === 0) byCaller.delete(caller);
    };
    payload.once("end", end).once("close", end);
    payload.on("data", (chunk: Buffer) => {
      const bytes = (own.bodies.get(payload) ?? 0) + chunk.length;
      own.bodies.delete(payload);
      own.bodies.set(payload, bytes);
      total += chunk.length;
      own.total += chunk.length;
      if (total > arrivingMaxBytes) dropStalest(byCaller.values());
    });
    done(null, payload);
  };
}

function dropStalest(callers: Iterable<Arriving>): void {
  const most = [...callers].reduce((one, other) => (other.total > one.total ? other : one));
  const [stalest] = most.bodies.keys();
  stalest?.destroy();
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** The handler reads the body itself (`x-body-as-text`). */
    hasTextBody?: boolean;
  }
}

/** The 415 for a body in another charset than UTF-8, or with a content encoding. */
function encodingError({
  "content-type": type = "",
  "content-encoding": encoding = "identity",
}: FastifyRequest["headers"]): HttpError | undefined {
  const [, charset = "utf-8"] = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type) ?? [];
  if (!/^utf-?8$/i.test(charset)) return new HttpError(415, ["the charset of the body must be utf-8"]);
  if (encoding.toLowerCase() === "identity") return undefined;
  return new HttpError(415, ["the body must not have a content encoding"], { "accept-encoding": "identity" });
}

/**
 * If an operation has no body, that of a request is not read. It must be JSON nevertheless: a page of another origin can send a
 * form or a text without a preflight, and nothing else.
 */
export const ignoreBody: onRequestHookHandler = ({ headers }, _reply, done) => {
  const { "content-type": type = "", "content-length": length, "transfer-encoding": coding } = headers;
  let error: HttpError | undefined;
  if (coding !== undefined || Number(length ?? 0) !== 0) {
    const isJson = /^application\/json\s*(;|$)/i.test(type);
    error = isJson ? encodingError(headers) : new HttpError(415, [bodyMustBeJson]);
  }
  delete headers["content-type"];
  delete headers["content-length"];
  delete headers["transfer-encoding"];
  done(error);
};

const utf8 = new TextDecoder();

function readBody({ headers, routeOptions }: FastifyRequest, body: Buffer): unknown {
  const error = encodingError(headers);
  if (error) throw error;
  if (body.length === 0) throw wrongBody(required, "the body is empty; it must be JSON");
  if (!isUtf8(body)) throw wrongBody({ charset: "utf-8" }, "the body is not valid UTF-8");
  const text = utf8.decode(body);
  if (routeOptions.config.hasTextBody) return text;
  const exceeded = exceededBound(text, membersMax);
  if (exceeded) throw wrongBody(exceeded.rule, `the body ${exceeded.text}`);
  const value = parseJson(text);
  if (value === undefined)
    throw wrongBody({ contentMediaType: "application/json" }, "the body is not valid JSON");
  return value;
}

const required = { required: true };
const wrongBody = (...fault: Parameters<typeof bodyFault>) => new HttpError(400, [bodyFault(...fault)]);

/** Rejects a request without a body. */
export const requireBody: preValidationHookHandler = (request, _reply, done) =>
  done(request.body === undefined ? wrongBody(required, "a body is required") : undefined);
