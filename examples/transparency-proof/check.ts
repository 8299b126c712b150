// Checks a proof that "npm run log -- prove ID" has printed, without the ledger: node check.ts PUBLIC_KEY < proof.json
// Prints what the log says, and exits with 1 if anything is not proved.
import { createHash, createPublicKey, verify } from "node:crypto";
import { text } from "node:stream/consumers";

interface Entry {
  index: number;
  tag: string;
  text: string;
  personal_hash: string;
  salt?: string;
  personal?: string;
  inclusion_proof: string[];
}

const sha256 = (...parts: Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest();
const bytes = (base64: string) => Buffer.from(base64, "base64");

/** The tree of a checkpoint (C2SP tlog-checkpoint) that is signed with a public key (C2SP signed-note, Ed25519). */
function readCheckpoint(note: string, publicKey: string) {
  const end = note.lastIndexOf("\n\n") + 1;
  const signed = note.slice(0, end);
  const [name = "", id = "", ...key] = publicKey.split("+");
  const encoded = bytes(key.join("+"));
  const ownId = sha256(Buffer.from(`${name}\n`), encoded).subarray(0, 4);
  if (ownId.toString("hex") !== id || encoded[0] !== 1) throw new Error("the public key is malformed");
  const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), encoded.subarray(1)]);
  const verifier = createPublicKey({ key: der, format: "der", type: "spki" });
  const isSigned = note
    .slice(end + 1)
    .split("\n")
    .some((line) => {
      const [dash, signer, signature = ""] = line.split(" ");
      const found = bytes(signature);
      if (dash !== "\u2014" || signer !== name || !found.subarray(0, 4).equals(ownId)) return false;
      return verify(null, Buffer.from(signed), verifier, found.subarray(4));
    });
  if (!isSigned) throw new Error("the checkpoint is not signed with this key");
  const [origin, size = "", root = ""] = signed.split("\n");
  if (origin !== name) throw new Error(`the checkpoint is of the log ${origin}`);
  return { size: Number(size), root: bytes(root) };
}

/** The root of the tree of a size that has this leaf (RFC 9162, section 2.1.3.2). */
function rootOf(leaf: Buffer, index: number, size: number, proof: Buffer[]): Buffer {
  let [hash, own, last] = [leaf, BigInt(index), BigInt(size - 1)];
  for (const sibling of proof) {
    if (last === 0n) throw new Error("the inclusion proof is too long");
    const isRight = own % 2n === 1n || own === last;
    hash = isRight ? sha256(Buffer.of(1), sibling, hash) : sha256(Buffer.of(1), hash, sibling);
    while (isRight && own % 2n === 0n && own !== 0n) [own, last] = [own >> 1n, last >> 1n];
    [own, last] = [own >> 1n, last >> 1n];
  }
  if (last !== 0n) throw new Error("the inclusion proof is too short");
  return hash;
}

function check(entry: Entry, size: number, root: Buffer): void {
  const { index, tag, personal_hash, salt, personal, inclusion_proof } = entry;
  if (index >= size) throw new Error(`the checkpoint has no entry ${index}`);
  if (salt !== undefined && !sha256(bytes(salt), Buffer.from(personal ?? "")).equals(bytes(personal_hash)))
    throw new Error(`the personal data of entry ${index} is not that of its hash`);
  const content = sha256(Buffer.from(entry.text), bytes(personal_hash));
  const leaf = sha256(Buffer.of(0), bytes(tag), content);
  if (!rootOf(leaf, index, size, inclusion_proof.map(bytes)).equals(root))
    throw new Error(`entry ${index} is not in the log`);
}

try {
  const { format, checkpoint, entries } = JSON.parse(await text(process.stdin));
  if (format !== 1) throw new Error("the format of the proof is not known");
  const { size, root } = readCheckpoint(checkpoint, process.argv[2] ?? "");
  for (const entry of entries as Entry[]) {
    check(entry, size, root);
    process.stdout.write(`entry ${entry.index} of ${size}: ${entry.text}\n`);
    if (entry.salt !== undefined) process.stdout.write(`  personal data: ${entry.personal}\n`);
  }
} catch (error) {
  process.stderr.write(`not proved: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
