import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Database } from "../../database/database.ts";
import { openCommandDatabase } from "../../database/databases.ts";
import { complain, parseCommandLine, printable, runCommand, say, UsageError } from "../../process/command.ts";
import { numeral, openProgress } from "../../process/progress.ts";
import { readSettings } from "../../process/settings.ts";
import { settings } from "../settings.ts";
import { ledgerIdOf } from "../tables/identity.ts";
import { requireMigrated } from "../tables/migrate.ts";
import { newestCheckpoint, outsideOfLog, readHead } from "../tables/transparency.ts";
import { accountKey } from "../transparency/entry.ts";
import { logKeyOf, makeKeyFile } from "../transparency/key.ts";
import { type Signer, verifierText } from "../transparency/note.ts";
import { proofOf } from "../transparency/proof.ts";
import { verifyLog } from "../transparency/verify.ts";

const usage = `Usage: npm run log -- verify [--checkpoint FILE]
       npm run log -- prove ID [--personal]
       npm run log -- public-key | account-key ACCOUNT
       npm run log -- make-key NAME FILE

The transparency log of the events and redactions in the database at DATABASE_URL, with the key in TLOG_KEY_FILE. The
ledger can run meanwhile.

  verify              compares the log with the events, the redactions and its checkpoints. Lists each difference, and
                      exits with 1 if there is one
    --checkpoint FILE compares it also with the checkpoint in this file, and replaces that with the newest one if there is
                      no difference. Keep the file where the administrators of the database cannot change it
  prove ID            prints the proof that the log has the events of a resource, as JSON. It has no personal data
    --personal        adds the personal data that is not redacted
  public-key          prints the key by which others verify the log
  account-key ACCOUNT prints the key, in hexadecimal, that finds the entries of an account, and of no other, in the log
  make-key NAME FILE  makes a private key for a log of this name, such as ledger.example.com/log
  --help              print this text
`;

/** Limit in milliseconds for a statement, which may read every event. */
const statementMaxMs = 3_600_000;
/** Differences that are listed. */
const shownMax = 100;

/** The number of words after each verb. */
const operands = { verify: 0, "public-key": 0, prove: 1, "account-key": 1, "make-key": 2 };

await runCommand("log", usage, async (args) => {
  const { values, positionals } = parseCommandLine({
    args,
    allowPositionals: true,
    options: { checkpoint: { type: "string" }, personal: { type: "boolean", default: false } },
  });
  const [verb = "", first = "", second = ""] = positionals;
  const { checkpoint, personal } = values;
  if (!Object.hasOwn(operands, verb) || positionals.length - 1 !== operands[verb as keyof typeof operands])
    throw new UsageError("expected verify, prove ID, public-key, account-key ACCOUNT or make-key NAME FILE");
  if (checkpoint !== undefined && verb !== "verify")
    throw new UsageError("--checkpoint is an option of verify");
  if (personal && verb !== "prove") throw new UsageError("--personal is an option of prove");
  if (verb === "make-key") return makeKey(first, second);
  const given = readSettings(process.env, settings);
  await using database = await openCommandDatabase(given.DATABASE_URL);
  await requireMigrated(database);
  const signer = logKeyOf(given, await ledgerIdOf(database));
  if (!signer) throw new Error("the ledger has no log, since TLOG_KEY_FILE is not set");
  if (verb === "public-key") say(verifierText(signer.verifier));
  else if (verb === "account-key") say(accountKey(signer, first).toString("hex"));
  else if (verb === "prove") await prove(database, signer, first, personal);
  else await verify(database, signer, checkpoint);
});

function makeKey(name: string, path: string): void {
  if (!/^[^\s+]{1,200}$/.test(name)) throw new UsageError(`${printable(name)} is no name of a log`);
  say(verifierText(makeKeyFile(path, name).verifier));
}

async function prove(database: Database, signer: Signer, id: string, personal: boolean): Promise<void> {
  const { proof, pending } = await proofOf(database, signer, id, personal);
  if (proof.entries.length + pending === 0) throw new Error(`the log has no entry of ${printable(id)}`);
  if (pending > 0) complain(`entries that no checkpoint has yet, and that are left out: ${pending}`);
  say(JSON.stringify(proof, null, 2));
}

async function verify(database: Database, signer: Signer, path: string | undefined): Promise<void> {
  const former = path === undefined ? undefined : readIfExists(path);
  if (path !== undefined && former === undefined) say(`there is no file ${printable(path)} yet`);
  let count = 0;
  function found(difference: string): void {
    count += 1;
    if (count <= shownMax) say(printable(difference));
  }
  {
    using progress = openProgress("entries verified", Number((await readHead(database)).size));
    await verifyLog(
      database.within(statementMaxMs),
      signer,
      former === undefined ? [] : [former],
      found,
      (some) => progress.advance(some),
    );
  }
  if (count > 0) throw new Error(`the log has ${numeral(count)} differences`);
  const newest = await newestCheckpoint(database);
  say(`the log is true; its newest checkpoint has ${numeral(Number(newest?.size ?? 0))} entries`);
  const { unsealed, removed, removed_at } = await outsideOfLog(database.within(statementMaxMs));
  if (unsealed > 0) say(`events that have no entry yet, and were not compared: ${numeral(Number(unsealed))}`);
  if (removed_at !== null)
    say(
      `records of accesses that were removed since they were old: ${numeral(Number(removed))}, last ${removed_at}`,
    );
  if (path === undefined || !newest) return;
  writeFileSync(`${path}.new`, newest.note);
  renameSync(`${path}.new`, path);
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
