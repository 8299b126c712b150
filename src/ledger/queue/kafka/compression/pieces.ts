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

type Pieces = Iterable<Buffer> | AsyncIterable<Buffer>;

/** By the number of the compression. Gzip and zstd run outside of the event loop, and pause while nobody takes pieces. */
const codecs: Record<number, { name: string; piecesOf(data: Buffer): Pieces }> = {
  0: { name: "no compression", piecesOf: (data) => [data] },
  1: { name: "gzip", piecesOf: (data) => createGunzip({ chunkSize: pieceBytes }).end(data) },
  2: { name: "snappy", piecesOf: snappyPieces },
  3: { name: "lz4", piecesOf: lz4Pieces },
  4: { name: "zstd", piecesOf: (data) => createZstdDecompress(zstdOptions).end(data) },
};

/** The name that Kafka's settings give to the compression with this number. */
export const compressionName = (compression: number): string =>
  codecs[compression]?.name ?? `unknown compression ${compression}`;

/**
 * The content of data in pieces of up to 64 KiB, by the number of its compression. Data without compression is one piece.
 * Beside a piece it takes at most 8 MiB of memory. Throws if it is damaged or would take more.
 */
export async function* piecesOf(compression: number, data: Buffer): AsyncGenerator<Buffer> {
  const codec = codecs[compression];
  if (!codec) throw new Error("it has a compression that only newer clients know");
  try {
    yield* codec.piecesOf(data);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === "ZSTD_error_frameParameter_windowTooLarge" ? windowTooLarge : error;
  }
}

const windowTooLarge = new Error(
  `its window is larger than ${2 ** (zstdWindowLog - 20)} MiB; the level of its producer, or of the topic, must be at most 19 (compression.zstd.level)`,
);
