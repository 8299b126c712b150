import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ownerOf } from "../../http/access/owner.ts";
import { HttpError } from "../../http/http-error.ts";
import { sendText } from "../../http/response.ts";
import { rejectOtherMethods } from "../../http/routes.ts";
import type { Reader } from "../requests/lanes.ts";
import { newestCheckpoint, readTiles, type Tile } from "../tables/transparency.ts";
import { tileWidth } from "../transparency/merkle.ts";
import { entriesLevel, partBytes } from "../transparency/tiles.ts";

const forever = "public, max-age=31536000, immutable";

/**
 * Serves the transparency log as C2SP tlog-tiles (https://c2sp.org/tlog-tiles). Like that protocol, it is not in the contract. The log
 * has nothing but hashes, so it needs no token.
 */
export function serveLog(app: FastifyInstance, { lanes }: Reader): void {
  app.get("/log/checkpoint", async (request, reply) => {
    const newest = await newestCheckpoint(lanes(ownerOf(request)));
    if (!newest) throw new HttpError(404, ["the log has no checkpoint yet"]);
    return sendText(reply.header("cache-control", "no-cache"), "text/plain", newest.note);
  });
  app.get("/log/tile/*", async (request: FastifyRequest<{ Params: { "*": string } }>, reply) => {
    const wanted = readPath(request.params["*"]);
    const [tile] = wanted ? await readTiles(lanes(ownerOf(request)), [wanted]) : [];
    const bytes = wanted && tile && contentOf(tile, wanted.width);
    if (!bytes) throw new HttpError(404, ["the log has no such tile"]);
    return sendBytes(reply, bytes);
  });
  for (const path of ["/log/checkpoint", "/log/tile/*"]) rejectOtherMethods(app, path, ["GET"]);
}

const sendBytes = (reply: FastifyReply, bytes: Buffer) =>
  reply.headers({ "cache-control": forever, "content-type": "application/octet-stream" }).send(bytes);

/** The tile of a path: its level, its index in groups of three digits, and its width if it is not full. */
function readPath(path: string) {
  const [, level, groups = "", last, partialWidth] =
    /^(entries|\d|[1-5]\d|6[0-3])\/((?:x\d{3}\/){0,4})(\d{3})(?:\.p\/([1-9]\d{0,2}))?$/.exec(path) ?? [];
  const width = partialWidth === undefined ? tileWidth : Number(partialWidth);
  const isWidth = partialWidth === undefined || width < tileWidth;
  if (last === undefined || groups.startsWith("x000/") || !isWidth) return undefined;
  return {
    level: level === "entries" ? entriesLevel : Number(level),
    index: Number(groups.replaceAll(/[x/]/g, "") + last),
    width,
  };
}

/** The first parts of a tile; undefined if it has fewer. Each entry is preceded by its length. */
function contentOf({ level, content }: Tile, width: number): Buffer | undefined {
  const size = partBytes(level);
  if (content.length < width * size) return undefined;
  const bytes = Buffer.from(content).subarray(0, width * size);
  if (level !== entriesLevel) return bytes;
  const length = Buffer.alloc(2);
  length.writeUInt16BE(size);
  const entries = Array.from({ length: width }, (_, number) =>
    bytes.subarray(number * size, (number + 1) * size),
  );
  return Buffer.concat(entries.flatMap((entry) => [length, entry]));
}
