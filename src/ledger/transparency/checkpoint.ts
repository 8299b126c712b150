import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../database/database.ts";
import {
  newestCheckpoint,
  readHead,
  type SavedCheckpoint,
  saveCheckpoint,
  sizeUpTo,
} from "../tables/transparency.ts";
import { openEntries } from "./entry.ts";
import { type ReadTile, treeHash } from "./merkle.ts";
import { checkpointText, isSignedBy, readCheckpoint, readNote, type Signer, signNote } from "./note.ts";
import { seal, stepMax } from "./seal.ts";
import { LogDamaged, tileReader } from "./tiles.ts";
import type { Witness } from "./witness.ts";

/** What is wrong with a checkpoint: it is no note, not signed with the key of the log, newer than the log, or of another one. */
export type CheckpointFault = "unreadable" | "unsigned" | "newer" | "changed";

/** Compares a checkpoint with the first entries of a log of a size. `entries` is the number of those that it has. */
export async function checkCheckpoint(
  text: string,
  { name, verifier }: Signer,
  size: number,
  read: ReadTile,
): Promise<{ entries: number; fault?: CheckpointFault }> {
  const note = readNote(text);
  const checkpoint = note && readCheckpoint(note.text);
  if (!note || !checkpoint) return { entries: 0, fault: "unreadable" };
  const entries = checkpoint.size;
  if (checkpoint.origin !== name || !isSignedBy(note, verifier)) return { entries, fault: "unsigned" };
  if (entries > size) return { entries, fault: "newer" };
  const root = await treeHash(read, entries).catch((error) => {
    if (!(error instanceof LogDamaged)) throw error;
  });
  return root?.equals(checkpoint.root) ? { entries } : { entries, fault: "changed" };
}

/** Signs a checkpoint of the first entries. Throws `LogDamaged` if the log does not have those of the newest one: then nothing is signed. */
async function signFirst(
  database: Database,
  signer: Signer,
  size: number,
  newest: SavedCheckpoint | undefined,
  read = tileReader(database),
): Promise<string> {
  if (newest) {
    const end = Number((await readHead(database)).size);
    const { fault, entries } = await checkCheckpoint(newest.note, signer, end, read);
    if (fault === "newer") throw new LogDamaged(`the log had ${entries} entries and has ${end}`);
    if (fault === "changed")
      throw new LogDamaged(`the first ${entries} entries are not those of the newest checkpoint`);
    if (fault) throw new LogDamaged("the newest checkpoint is not signed with the key of the log");
  }
  return signNote(checkpointText({ origin: signer.name, size, root: await treeHash(read, size) }), signer);
}

/**
 * Signs a checkpoint of the log as it is, adds the signatures of the witnesses, and saves it, if the log has grown since the newest one.
 * Throws `LogDamaged` if the log does not have the entries of that one.
 */
export async function publishCheckpoint(
  database: Database,
  signer: Signer,
  witnesses: Witness[],
): Promise<void> {
  const newest = await newestCheckpoint(database);
  const { size: end } = await readHead(database);
  if (newest?.size === end) return;
  const [size, read] = [Number(end), tileReader(database)];
  const note = await signFirst(database, signer, size, newest, read);
  const cosignatures = await Promise.all(witnesses.map((witness) => witness(note, size, read)));
  await saveCheckpoint(database, size, note + cosignatures.flat().join(""));
}

/** The delay in milliseconds while another process adds entries. */
const delayMs = 200;

/**
 * The checkpoint of the first entries that have what SQL transactions have stored up to one. It is the same whenever it is signed.
 * Adds the entries that the log does not have yet, and calls `onEntries` with their numbers.
 */
export async function checkpointUpTo(
  database: Database,
  signer: Signer,
  sqlTransaction: bigint,
  onEntries: (count: number) => void,
): Promise<string> {
  const entryOf = openEntries(signer);
  for (;;) {
    const size = await sizeUpTo(database, sqlTransaction);
    if (size !== undefined) return signFirst(database, signer, size, await newestCheckpoint(database));
    const { count } = await seal(database, entryOf, stepMax);
    onEntries(count);
    if (count === 0) await sleep(delayMs);
  }
}
