import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import type { ChangeRecord } from "../change-stream.ts";
import type { Copy } from "./copy.ts";
import { applyChange, type Entries, emptyEntries, setEntry } from "./entries.ts";

/** What a file is a copy of. */
export interface Origin {
  baseUrl: string;
  /** Sorted. */
  kinds: string[];
}

/**
 * The lines of a file, each a JSON document. The first one is a header. Then come entries, the changes since the writing
 * began, in order, and the cursor after them. The last line is the hash of all others.
 */
type Line =
  | ({ version: number } & Origin)
  | { resource: string; feature: string; ids: (string | [id: string, expiresAt: number])[] }
  | { changes: ChangeRecord[] }
  | { cursor: string; currentAt: number }
  | { sha256: string };

const version = 1;
/** Maximum number of identifiers or records on a line. */
const itemsPerLine = 1000;
/** The length of a text that is written at once, in one turn of the event loop. */
const pieceLength = 65_536;

const textOf = (line: Line) => `${JSON.stringify(line)}\n`;
const headerOf = ({ baseUrl, kinds }: Origin) => textOf({ version, baseUrl, kinds });

/**
 * Writes a copy to a file, which has the old or the new content at any moment, also after a power failure. The copy may
 * change meanwhile: the file has its state of one moment near the end. Rejects with an error of the file system.
 */
export async function writeCopy(file: string, origin: Origin, copy: Copy): Promise<void> {
  const incomplete = `${file}.${process.pid}`;
  const hash = createHash("sha256");
  const handle = await open(incomplete, "w", 0o600);
  try {
    for (const piece of piecesOf(linesOf(origin, copy))) {
      hash.update(piece);
      await handle.appendFile(piece);
    }
    await handle.appendFile(textOf({ sha256: hash.digest("hex") }));
    await handle.sync();
    await handle.close();
    await rename(incomplete, file);
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(incomplete, { force: true });
    throw error;
  } finally {
    copy.recorded = undefined;
  }
}

function* linesOf(origin: Origin, copy: Copy): Generator<string> {
  yield headerOf(origin);
  copy.recorded = [];
  yield* entryLines(copy.entries);
  // One moment: what changes while the file waits for the next lines is in none of them.
  const { recorded, cursor, currentAt } = copy;
  copy.recorded = undefined;
  for (let start = 0; start < recorded.length; start += itemsPerLine) {
    yield textOf({ changes: recorded.slice(start, start + itemsPerLine) });
  }
  yield textOf({ cursor, currentAt: Date.now() - (performance.now() - currentAt) });
}

function* entryLines(entries: Entries): Generator<string> {
  for (const [resource, features] of entries) {
    for (const [feature, expiryById] of features) {
      let ids: (string | [string, number])[] = [];
      for (const [id, expiresAt] of expiryById) {
        ids.push(expiresAt ? [id, expiresAt] : id);
        if (ids.length < itemsPerLine) continue;
        yield textOf({ resource, feature, ids });
        ids = [];
      }
      if (ids.length > 0) yield textOf({ resource, feature, ids });
    }
  }
}

/** Texts, joined to pieces that are worth a write. */
function* piecesOf(texts: Iterable<string>): Generator<string> {
  let piece = "";
  for (const text of texts) {
    piece += text;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = "";
  }
  yield piece;
}

/** Reads the copy in a file; undefined if there is no file. Rejects if the file is damaged or of another origin. */
export async function readCopy(file: string, origin: Origin): Promise<Copy | undefined> {
  const header = headerOf(origin);
  const hash = createHash("sha256");
  const copy: Copy = { entries: emptyEntries(origin.kinds), cursor: "", currentAt: 0 };
  let isFirst = true;
  let isWhole = false;
  try {
    for await (const text of textLinesIn(file)) {
      const line = JSON.parse(text) as Line;
      if (isFirst && `${text}\n` !== header) break;
      isFirst = false;
      isWhole = "sha256" in line && line.sha256 === hash.copy().digest("hex");
      hash.update(`${text}\n`);
      readLine(copy, line);
    }
  } catch (error) {
    const { syscall, code } = error as { syscall?: string; code?: string };
    if (code === "ENOENT") return undefined;
    if (syscall) throw error;
    isWhole = false;
  }
  if (isFirst) throw new Error(`its first line is not ${header.trim()}`);
  if (!isWhole) throw new Error("it is damaged");
  return copy;
}

function readLine(copy: Copy, line: Line): void {
  if ("ids" in line) {
    const { resource, feature } = line;
    for (const one of line.ids) {
      const [id, expiresAt] = typeof one === "string" ? [one, 0] : one;
      setEntry(copy.entries, { resource, feature, id }, expiresAt);
    }
  } else if ("changes" in line) {
    for (const record of line.changes) applyChange(copy.entries, record);
  } else if ("cursor" in line) {
    copy.cursor = line.cursor;
    // A clock that was set back makes no copy newer than now.
    copy.currentAt = performance.now() - Math.max(Date.now() - line.currentAt, 0);
  }
}

/** The lines of a file. A name can contain a line separator of Unicode, so only a line feed ends a line. */
async function* textLinesIn(file: string): AsyncGenerator<string, void, void> {
  let unfinished = "";
  for await (const piece of createReadStream(file, "utf8")) {
    const lines = (unfinished + piece).split("\n");
    unfinished = lines.pop() as string;
    yield* lines;
  }
  if (unfinished !== "") yield unfinished;
}
