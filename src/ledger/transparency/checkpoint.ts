import type { Database } from "../../database/database.ts";
import { newestCheckpoint, readHead, saveCheckpoint } from "../tables/transparency.ts";
import { type ReadTile, treeHash } from "./merkle.ts";
import { checkpointText, isSignedBy, readCheckpoint, readNote, type Signer, signNote } from "./note.ts";
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

/**
 * Signs a checkpoint of the log as it is, adds the signatures of the witnesses, and saves it, if the log has grown since the newest one.
 * Throws `LogDamaged` if the log does not have the entries of that one: then nothing more is signed.
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
  if (newest) {
    const { fault, entries } = await checkCheckpoint(newest.note, signer, size, read);
    if (fault === "newer") throw new LogDamaged(`the log had ${entries} entries and has ${size}`);
    if (fault === "changed")
      throw new LogDamaged(`the first ${entries} entries are not those of the newest checkpoint`);
    if (fault) throw new LogDamaged("the newest checkpoint is not signed with the key of the log");
  }
  const text = checkpointText({ origin: signer.name, size, root: await treeHash(read, size) });
  const note = signNote(text, signer);
  const cosignatures = await Promise.all(witnesses.map((witness) => witness(note, size, read)));
  await saveCheckpoint(database, size, note + cosignatures.flat().join(""));
}
