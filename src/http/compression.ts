import { promisify } from "node:util";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from "node:zlib";
import type { FastifyReply } from "fastify";
import Negotiator from "negotiator";
import { openLane } from "../waiting/lane.ts";
import type { Owner } from "../waiting/owner.ts";
import { overloaded } from "./http-error.ts";
import { varyBy } from "./vary.ts";

/** Shorter bodies are not worth compressing. In characters of a text, or bytes. */
export const compressedMin = 1024;

export type Encoding = "br" | "gzip";
const encodings: Encoding[] = ["br", "gzip"];

/** Higher qualities take several times as long and save a tenth. */
const quality = { [constants.BROTLI_PARAM_QUALITY]: 4 };
const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) };

/** The bodies that are compressed. A caller has two of the places, since the pool has four threads. */
const lane = openLane({
  runningMax: 6,
  waitingMax: 500,
  limitMs: 30_000,
  busy: overloaded("too many responses wait to be compressed; try again later"),
});

/** Compresses a body in a thread of the pool, so that other requests proceed. */
export const compress = (caller: Owner, encoding: Encoding, body: string | Buffer): Promise<Buffer> =>
  lane.run(caller, () =>
    encoding === "br" ? compressors.br(body, { params: quality }) : compressors.gzip(body),
  );

/** A compressor of a stream. It passes on each piece at once, and holds 0.3 MiB (gzip) or 1 MiB (br). */
export const compressingStream = (encoding: Encoding) =>
  encoding === "br"
    ? createBrotliCompress({
        flush: constants.BROTLI_OPERATION_FLUSH,
        params: { ...quality, [constants.BROTLI_PARAM_LGWIN]: streamWindow },
      })
    : createGzip({ flush: constants.Z_SYNC_FLUSH });

/** A window of 256 KiB instead of 4 MiB. */
const streamWindow = 18;

/**
 * The encoding of a response, undefined for none. Sets `Vary` for caches. An `ETag` is the same for every encoding, since it
 * also guards changes.
 */
export function chooseEncoding(reply: FastifyReply): Encoding | undefined {
  varyBy(reply, "accept-encoding");
  const accepted = reply.request.headers["accept-encoding"];
  if (typeof accepted !== "string" || accepted.length > acceptedMax) return undefined;
  const headers = { "accept-encoding": accepted };
  const chosen = new Negotiator({ headers }).encoding([...encodings, "identity"]);
  return encodings.find((one) => one === chosen);
}

/** A longer header takes long to parse. */
const acceptedMax = 1000;
