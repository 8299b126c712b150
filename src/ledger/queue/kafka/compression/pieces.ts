import { constants, createGunzip, createZstdDecompress } from "node:zlib";
import { lz4Pieces } from "./lz4.ts";
import { snappyPieces } from "./snappy.ts";
import { pieceBytes } from "./window.ts";

/** The window of zstd's levels up to 19, and the largest that a decompressor must support (RFC 8878). */
const zstdWindowLog = 23;
const zstdOptions = {
  chunkSize: pieceBytes,
  params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLog },
};

/** Gzip and zstd are decompressed outside of the event loop, and stop while nobody takes their pieces. */
const codecs: Record<number, (data: Buffer) => Iterable<Buffer> | AsyncIterable<Buffer>> = {
  0: (data) => [data],
  1: (data) => createGunzip({ chunkSize: pieceBytes }).end(data),
  2: snappyPieces,
  3: lz4Pieces,
  4: (data) => createZstdDecompress(zstdOptions).end(data),
};

/**
 * The content of data in pieces of up to 64 KiB, by the number that Kafka gives to its compression. Data without compression
 * is one piece. Beside a piece it takes at most 8 MiB of memory. Throws if it is damaged or would take more.
 */
export async function* piecesOf(compression: number, data: Buffer): AsyncGenerator<Buffer> {
  const codec = codecs[compression];
  if (!codec) throw new Error(`its compression has the unknown number ${compression}`);
  try {
    yield* codec(data);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "ZSTD_error_frameParameter_windowTooLarge"
      ? windowTooLarge
      : error;
  }
}

const windowTooLarge = new Error(
  `its zstd window is larger than ${2 ** (zstdWindowLog - 20)} MiB; the level of its producer, or of the topic, must be at \
most 19 (compression.zstd.level)`,
);
