import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from "node:crypto";

/** Signed notes and checkpoints (C2SP signed-note, tlog-checkpoint and tlog-cosignature), with Ed25519. */

/** What a signature with a key is for: the log's own, or that of a witness. */
const algorithms = { log: 1, witness: 4 };

/** A public key with the name of the log or witness. */
export interface Verifier {
  name: string;
  kind: keyof typeof algorithms;
  key: KeyObject;
  /** The first four bytes of each signature. */
  id: Buffer;
}

const ed25519Private = Buffer.from("302e020100300506032b657004220420", "hex");
const ed25519Public = Buffer.from("302a300506032b6570032100", "hex");

/** The private key of a log, with the name of the log. */
export interface Signer {
  name: string;
  seed: Buffer;
  key: KeyObject;
  verifier: Verifier;
}

/** The signer with a seed of 32 bytes. */
export function signerOf(name: string, seed: Buffer): Signer {
  const key = createPrivateKey({
    key: Buffer.concat([ed25519Private, seed]),
    format: "der",
    type: "pkcs8",
  });
  const raw = rawOf(createPublicKey(key));
  return { name, seed, key, verifier: verifierOf(name, "log", raw) };
}

/** The text of a private key: `PRIVATE+KEY+NAME+ID+KEY`, as other programs read it. */
export const signerText = ({ name, seed, verifier }: Signer): string =>
  `PRIVATE+KEY+${name}+${verifier.id.toString("hex")}+${Buffer.concat([Buffer.of(algorithms.log), seed]).toString("base64")}`;

/** Reads the text of a private key. Undefined if it is none. */
export function readSigner(text: string): Signer | undefined {
  const [, name = "", id = "", encoded = ""] =
    /^PRIVATE\+KEY\+([^\s+]+)\+([0-9a-f]{8})\+([\w+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.length !== 33 || bytes[0] !== algorithms.log) return undefined;
  const signer = signerOf(name, bytes.subarray(1));
  return signer.verifier.id.toString("hex") === id ? signer : undefined;
}

const rawOf = (key: KeyObject): Buffer =>
  key.export({ format: "der", type: "spki" }).subarray(ed25519Public.length);

function verifierOf(name: string, kind: Verifier["kind"], raw: Buffer): Verifier {
  const key = createPublicKey({ key: Buffer.concat([ed25519Public, raw]), format: "der", type: "spki" });
  return { name, kind, key, id: idOf(name, algorithms[kind], raw) };
}

const idOf = (name: string, algorithm: number, raw: Buffer) =>
  hash("sha256", Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(algorithm), raw]), "buffer").subarray(
    0,
    4,
  );

/** The text of a public key: `NAME+ID+KEY`, as verifiers of others read it. */
export const verifierText = ({ name, kind, key, id }: Verifier): string =>
  `${name}+${id.toString("hex")}+${Buffer.concat([Buffer.of(algorithms[kind]), rawOf(key)]).toString("base64")}`;

/** Reads the text of a public key. Undefined if it is none. */
export function readVerifier(text: string): Verifier | undefined {
  const [, name = "", id = "", encoded = ""] = /^([^\s+]+)\+([0-9a-f]{8})\+([\w+/]+={0,2})$/.exec(text) ?? [];
  const [algorithm = 0, ...raw] = Buffer.from(encoded, "base64");
  const kind = (["log", "witness"] as const).find((one) => algorithms[one] === algorithm);
  if (kind === undefined || raw.length !== 32) return undefined;
  const verifier = verifierOf(name, kind, Buffer.from(raw));
  return verifier.id.toString("hex") === id ? verifier : undefined;
}

/** A tree of a log. */
export interface Checkpoint {
  origin: string;
  size: number;
  root: Buffer;
}

export const checkpointText = ({ origin, size, root }: Checkpoint): string =>
  `${origin}\n${size}\n${root.toString("base64")}\n`;

/** A text with a blank line and the signature of a log. */
export const signNote = (text: string, { name, key, verifier }: Signer): string =>
  `${text}\n${signatureLine(name, Buffer.concat([verifier.id, sign(null, Buffer.from(text), key)]))}`;

const signatureLine = (name: string, bytes: Buffer) => `\u2014 ${name} ${bytes.toString("base64")}\n`;

export interface Note {
  text: string;
  /** The lines of the signatures. */
  signatures: string[];
}

/** Reads a note. Undefined if the text is none. */
export function readNote(note: string): Note | undefined {
  const end = note.lastIndexOf("\n\n");
  const signatures = note.slice(end + 2).split("\n");
  if (end < 0 || signatures.pop() !== "" || signatures.length === 0) return undefined;
  return signatures.every((line) => signatureForm.test(line))
    ? { text: note.slice(0, end + 1), signatures }
    : undefined;
}

const signatureForm = /^\u2014 ([^\s+]+) ([\w+/]+={0,2})$/;

/** The checkpoint in the text of a note. Undefined if it is none. */
export function readCheckpoint(text: string): Checkpoint | undefined {
  const [origin = "", size = "", root = ""] = text.split("\n");
  const bytes = Buffer.from(root, "base64");
  const isCheckpoint = origin !== "" && /^(0|[1-9]\d{0,14})$/.test(size) && bytes.length === 32;
  return isCheckpoint ? { origin, size: Number(size), root: bytes } : undefined;
}

/** The lines of a note that are signatures of its text by a key, each with its line feed. */
export const signatureLines = ({ text, signatures }: Note, verifier: Verifier): string[] =>
  signatures.filter((line) => isSignature(line, text, verifier)).map((line) => `${line}\n`);

export const isSignedBy = (note: Note, verifier: Verifier): boolean =>
  signatureLines(note, verifier).length > 0;

function isSignature(line: string, text: string, { name, kind, key, id }: Verifier): boolean {
  const [, signer, encoded = ""] = signatureForm.exec(line) ?? [];
  const bytes = Buffer.from(encoded, "base64");
  if (signer !== name || !bytes.subarray(0, 4).equals(id)) return false;
  if (kind === "log") return verify(null, Buffer.from(text), key, bytes.subarray(4));
  if (bytes.length !== 4 + 8 + 64) return false;
  const signed = `cosignature/v1\ntime ${bytes.readBigUInt64BE(4)}\n${text}`;
  return verify(null, Buffer.from(signed), key, bytes.subarray(12));
}
