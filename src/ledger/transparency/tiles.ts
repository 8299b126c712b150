import type { Sql } from "../../database/database.ts";
import { readTiles, type Tile, type TilePlace } from "../tables/transparency.ts";
import { entryBytes } from "./entry.ts";
import {
  appendLeaves,
  hashBytes,
  leafHash,
  openTiles,
  type ReadTile,
  tilesWith,
  tileWidth,
} from "./merkle.ts";

/** The level of the bundles of entries, which is none of the tree. */
export const entriesLevel = -1;

/** The size in bytes of each part of a tile. */
export const partBytes = (level: number): number => (level === entriesLevel ? entryBytes : hashBytes);

/** The tiles that are not full in a tree of a size, with the bundle of entries. */
export const openPlaces = (size: number): TilePlace[] => [
  ...(size % tileWidth > 0 ? [{ level: entriesLevel, index: Math.floor(size / tileWidth) }] : []),
  ...openTiles(size),
];

/** The tiles and bundles that change if entries are appended to a tree, of which those that are not full are given. */
export const appendEntries = (size: number, open: Tile[], entries: Buffer[]): Tile[] => [
  ...tilesWith(entriesLevel, size, open, Buffer.concat(entries), entryBytes),
  ...appendLeaves(size, open, Buffer.concat(entries.map(leafHash))),
];

/** The log is not the one that was published. */
export class LogDamaged extends Error {}

/** Reads each tile once. Throws `LogDamaged` if one has fewer hashes than it must have. */
export function tileReader(sql: Sql): ReadTile {
  const known = new Map<string, Promise<Tile[]>>();
  return async ({ level, index }, count) => {
    const place = `${level}/${index}`;
    const reading = known.get(place) ?? readTiles(sql, [{ level, index }]);
    known.set(place, reading);
    const [tile] = await reading;
    if (!tile || tile.content.length < count * partBytes(level))
      throw new LogDamaged(`the tile ${place} has fewer than ${count} hashes`);
    return Buffer.from(tile.content);
  };
}
