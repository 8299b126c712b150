import type { Database } from "../../database/database.ts";
import { type EntryText, entryTexts, newestCheckpoint } from "../tables/transparency.ts";
import { openEntries } from "./entry.ts";
import { inclusionProof, sha256 } from "./merkle.ts";
import type { Signer } from "./note.ts";
import { tileReader } from "./tiles.ts";

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

/**
 * The proof that the log has the events and redactions of a resource: a signed checkpoint, and of each entry what it says and its
 * inclusion proof (RFC 6962). With `personal`, also the personal data and their salts. `pending` is the number of entries that the
 * checkpoint does not have yet.
 */
export async function proofOf(database: Database, signer: Signer, externalId: string, personal: boolean) {
  const newest = await newestCheckpoint(database);
  if (!newest) throw new Error("the log has no checkpoint yet; try again in some seconds");
  const texts = await entryTexts(database, externalId);
  const size = Number(newest.size);
  const [read, entryOf] = [tileReader(database), openEntries(signer)];
  const proved = texts.filter(({ index }) => Number(index) < size);
  const entries = [];
  for (const text of proved) {
    const index = Number(text.index);
    const content = sha256(Buffer.from(text.text), text.personal_hash);
    const entry = entryOf(index, text.account, content);
    entries.push({
      index,
      tag: base64(entry.subarray(0, entry.length - content.length)),
      text: text.text,
      personal_hash: base64(text.personal_hash),
      ...(personal && personalOf(text)),
      inclusion_proof: (await inclusionProof(read, index, size)).map(base64),
    });
  }
  return { proof: { format: 1, checkpoint: newest.note, entries }, pending: texts.length - proved.length };
}

/** The personal data of an entry with its salt. Undefined if there is none, or none any more. */
function personalOf({ personal, salt }: EntryText) {
  return personal !== null && salt !== null ? { salt: base64(salt), personal } : undefined;
}
