import type { Database } from "../../database/database.ts";
import { newestCheckpoint, readHead, saveCheckpoint } from "../tables/transparency.ts";
import { treeHash } from "./merkle.ts";
import { checkpointText, isSignedBy, readCheckpoint, readNote, type Signer, signNote } from "./note.ts";
import { LogDamaged, tileReader } from "./tiles.ts";
import type { Witness } from "./witness.ts";

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
    const former = readNote(newest.note);
    const checkpoint = former && readCheckpoint(former.text);
    if (!former || !isSignedBy(former, signer.verifier) || !checkpoint || checkpoint.origin !== signer.name)
      throw new LogDamaged("the newest checkpoint is not signed with the key of the log");
    if (checkpoint.size > size)
      throw new LogDamaged(`the log had ${checkpoint.size} entries and has ${size}`);
    if (!checkpoint.root.equals(await treeHash(read, checkpoint.size)))
      throw new LogDamaged(`the first ${checkpoint.size} entries are not those of the newest checkpoint`);
  }
  const text = checkpointText({ origin: signer.name, size, root: await treeHash(read, size) });
  const note = signNote(text, signer);
  const cosignatures = await Promise.all(witnesses.map((witness) => witness(note, size, read)));
  await saveCheckpoint(database, size, note + cosignatures.flat().join(""));
}
