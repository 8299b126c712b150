import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { privateFileMode } from "../../process/private-folder.ts";
import { readSigner, type Signer, signerOf, signerText } from "./note.ts";

/** Reads the private key of a log in a file. Throws an error that says what is wrong with it. */
export function readKeyFile(path: string): Signer {
  const signer = readSigner(readFileSync(path, "utf8").trim());
  if (!signer)
    throw new Error(`the file ${path} has no private key of a log; npm run log -- make-key makes one`);
  return signer;
}

/** Makes a private key for a log of this name, in a file that does not exist. */
export function makeKeyFile(path: string, name: string): Signer {
  if (existsSync(path)) throw new Error(`the file ${path} exists; it may have the key of a log`);
  const signer = signerOf(name, randomBytes(32));
  writeFileSync(path, `${signerText(signer)}\n`, { mode: privateFileMode, flag: "wx" });
  return signer;
}

/**
 * The key of the log of a ledger: that in the file of the setting, or, of an embedded database in a folder, one in this folder, which
 * the first call makes. Undefined if there is none: the ledger then has no log.
 */
export function logKeyOf(
  { TLOG_KEY_FILE, DATABASE_URL }: { TLOG_KEY_FILE: string | undefined; DATABASE_URL: string },
  ledgerId: string,
): Signer | undefined {
  if (TLOG_KEY_FILE !== undefined) return readKeyFile(TLOG_KEY_FILE);
  // Null for several hosts.
  const url = URL.parse(DATABASE_URL);
  if (url?.protocol !== "pglite:" || url.pathname === "memory") return undefined;
  const path = join(decodeURIComponent(url.pathname), "transparency-log.key");
  return existsSync(path) ? readKeyFile(path) : makeKeyFile(path, `payment-ledger/${ledgerId}`);
}
