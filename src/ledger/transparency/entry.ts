import { createHmac, hash } from "node:crypto";
import type { Signer } from "./note.ts";

/**
 * An entry of the log: a tag of 16 bytes, by which the key of an account finds its entries, and a hash of 32 bytes of what the entry
 * says. Nobody without a key can read from it anything about the event, or that two entries have the same account.
 */
export const entryBytes = 48;
const tagBytes = 16;

/** The key of an account, which finds all its entries. That of null finds those without an account. */
export const accountKey = ({ seed }: Signer, account: string | null): Buffer =>
  createHmac("sha256", seed)
    .update(account === null ? "no account" : `account ${account}`)
    .digest();

/** The number of keys that are remembered. */
const keysMax = 10_000;

/** Makes the entries of a log. */
export function openEntries(signer: Signer) {
  const keys = new Map<string | null, Buffer>();
  function keyOf(account: string | null): Buffer {
    const known = keys.get(account);
    if (known) return known;
    if (keys.size >= keysMax) keys.clear();
    const key = accountKey(signer, account);
    keys.set(account, key);
    return key;
  }
  return (index: number, account: string | null, content: Uint8Array): Buffer =>
    Buffer.concat([tagOf(keyOf(account), index), content]);
}

/** The tag of the entry at an index if it is of the account with this key, of 32 bytes: the beginning of a hash of both. */
export function tagOf(key: Buffer, index: number): Buffer {
  const keyed = Buffer.allocUnsafe(key.length + 8);
  key.copy(keyed);
  keyed.writeBigUInt64BE(BigInt(index), key.length);
  return hash("sha256", keyed, "buffer").subarray(0, tagBytes);
}
