import { hash } from "node:crypto";
import type { Tile, TilePlace } from "../tables/transparency.ts";

/**
 * The Merkle tree of RFC 6962 in tiles of up to 256 hashes (C2SP tlog-tiles). Those of level 0 are of leaves, and a hash of any
 * other level stands for a whole tile of the level below.
 */

const tileHeight = 8;
export const tileWidth = 2 ** tileHeight;
export const hashBytes = 32;

export const sha256 = (...parts: Uint8Array[]): Buffer => hash("sha256", Buffer.concat(parts), "buffer");

export const leafHash = (entry: Uint8Array): Buffer => sha256(Buffer.of(0), entry);
const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(Buffer.of(1), left, right);

/** The number of hashes in a level of a tree. */
const countIn = (level: number, size: number) => Math.floor(size / tileWidth ** level);

/** The tiles that are not full at the end of each level of a tree, as levels and indexes. */
export function openTiles(size: number): TilePlace[] {
  const open: TilePlace[] = [];
  for (let level = 0; countIn(level, size) > 0; level += 1) {
    const count = countIn(level, size);
    if (count % tileWidth > 0) open.push({ level, index: Math.floor(count / tileWidth) });
  }
  return open;
}

/**
 * The tiles of a level that change if parts of a size in bytes are appended to the first `count` of the level, whose last tile is among
 * `open` if it is not full.
 */
export function tilesWith(
  level: number,
  count: number,
  open: Tile[],
  parts: Buffer,
  partBytes: number,
): Tile[] {
  const before = open.find((tile) => tile.level === level)?.content ?? Buffer.of();
  const bytes = Buffer.concat([before, parts]);
  const tileBytes = tileWidth * partBytes;
  const first = Math.floor(count / tileWidth);
  return Array.from({ length: Math.ceil(bytes.length / tileBytes) }, (_, number) => ({
    level,
    index: first + number,
    content: bytes.subarray(number * tileBytes, (number + 1) * tileBytes),
  }));
}

/**
 * Appends the hashes of leaves to a tree, of which the tiles that are not full are given. Returns the tiles that change or are
 * new.
 */
export function appendLeaves(size: number, open: Tile[], leaves: Buffer): Tile[] {
  const changed: Tile[] = [];
  let added = leaves;
  for (let level = 0; added.length > 0; level += 1) {
    const tiles = tilesWith(level, countIn(level, size), open, added, hashBytes);
    changed.push(...tiles);
    const full = tiles.filter(({ content }) => content.length === tileWidth * hashBytes);
    added = Buffer.concat(full.map(({ content }) => rootOf(Buffer.from(content))));
  }
  return changed;
}

/** The root of a perfect tree with these hashes. */
function rootOf(hashes: Buffer): Buffer {
  if (hashes.length === hashBytes) return hashes;
  const half = hashes.length / 2;
  return nodeHash(rootOf(hashes.subarray(0, half)), rootOf(hashes.subarray(half)));
}

/** Reads the hashes of a tile. It can have more than those of the tree. Rejects if it has fewer. */
export type ReadTile = (place: TilePlace, count: number) => Promise<Buffer>;

/** The hash of the perfect tree of 2^height leaves that begins with the leaf `start`, a multiple of its size. */
async function perfectHash(read: ReadTile, height: number, start: number): Promise<Buffer> {
  const level = Math.floor(height / tileHeight);
  const place = start / tileWidth ** level;
  const [first, count] = [place % tileWidth, 2 ** (height % tileHeight)];
  const hashes = await read({ level, index: Math.floor(place / tileWidth) }, first + count);
  return rootOf(hashes.subarray(first * hashBytes, (first + count) * hashBytes));
}

/** The hash of the leaves from `start` to `end`, exclusive. `start` is a multiple of the largest power of 2 below their number. */
async function rangeHash(read: ReadTile, start: number, end: number): Promise<Buffer> {
  const height = Math.floor(Math.log2(end - start));
  const middle = start + 2 ** height;
  const left = await perfectHash(read, height, start);
  return middle === end ? left : nodeHash(left, await rangeHash(read, middle, end));
}

/** The root of the tree with the first `size` leaves. */
export const treeHash = async (read: ReadTile, size: number): Promise<Buffer> =>
  size === 0 ? sha256() : await rangeHash(read, 0, size);

/** The largest power of 2 that is less than a number. */
const splitOf = (count: number) => 2 ** Math.ceil(Math.log2(count) - 1);

/** The inclusion proof of a leaf (RFC 6962, 2.1.1): the siblings on the way to the root, from below. */
export async function inclusionProof(
  read: ReadTile,
  leaf: number,
  end: number,
  start = 0,
): Promise<Buffer[]> {
  if (end - start === 1) return [];
  const middle = start + splitOf(end - start);
  return leaf < middle
    ? [...(await inclusionProof(read, leaf, middle, start)), await rangeHash(read, middle, end)]
    : [...(await inclusionProof(read, leaf, end, middle)), await rangeHash(read, start, middle)];
}

/** The consistency proof from the first `former` leaves to the tree with `size` leaves (RFC 6962, 2.1.2). */
export async function consistencyProof(read: ReadTile, former: number, size: number): Promise<Buffer[]> {
  if (former === 0 || former === size) return [];
  return await partialProof(read, former, 0, size, true);
}

async function partialProof(
  read: ReadTile,
  former: number,
  start: number,
  end: number,
  isWhole: boolean,
): Promise<Buffer[]> {
  if (former === end) return isWhole ? [] : [await rangeHash(read, start, end)];
  const middle = start + splitOf(end - start);
  return former <= middle
    ? [...(await partialProof(read, former, start, middle, isWhole)), await rangeHash(read, middle, end)]
    : [...(await partialProof(read, former, middle, end, false)), await rangeHash(read, start, middle)];
}
