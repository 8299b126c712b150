import { setTimeout as wait } from "node:timers/promises";
import type { Database, Sql } from "../../database/database.ts";
import { openCommandDatabase } from "../../database/databases.ts";
import { parseCommandLine, printable, runCommand, say, UsageError } from "../../process/command.ts";
import { numeral, openProgress } from "../../process/progress.ts";
import { readSettings } from "../../process/settings.ts";
import { stopOnSignals } from "../../process/stop.ts";
import { intervalOf } from "../../values/age.ts";
import { inChunks } from "../../values/chunks.ts";
import { readReason, recordCommand } from "../access/recorder.ts";
import { redact } from "../intake/redact.ts";
import { redactDeadLetters } from "../intake/redacted-dead-letters.ts";
import { embeddedFolder } from "../queue/address.ts";
import { settings } from "../settings.ts";
import { requireMigrated } from "../tables/migrate.ts";
import {
  countOlderTransactions,
  instantBefore,
  notRedacted,
  rewriteStatements,
  unusedSince,
  vacuumStatements,
  withoutEvents,
} from "../tables/redaction.ts";
import { countResources, resourceIdsAfter } from "../tables/resource.ts";

const usage = `Usage: npm run redact -- ID... | --older-than AGE [--account ACCOUNT] [OPTION...]
       npm run redact -- --rewrite

Erases the personal data of resources in the database at DATABASE_URL: the members that the contract marks with
x-personal-data, and those that it does not have. They read <REDACTED> afterwards, also in events that arrive later.
Refunds and disputes are redacted with their payment, and payment instruments with their agreement. Amounts, states and
reports do not change. The ledger can run meanwhile. A command that was stopped goes on when it is run again.

  ID...              the resources with these external ids
  --older-than AGE   resources without an event for this time, such as 7y, 18mo or 90d. A payment also waits for its
                     refunds and disputes, and an agreement for its payments
  --account ACCOUNT  only resources of a gateway account
  --keep-metadata    keeps the values of the metadata of payments
  --unknown          also ids of which no event is stored: for their dead letters and later events
  --dry-run          changes nothing; shows how many resources would be redacted
  --reason TEXT      why, for the record of the redaction, without personal data; up to 200 characters
  --rewrite          rewrites the files of the tables at the end, since they keep erased values until the space is used
                     again. The ledger waits meanwhile
  --help             print this text
`;

const pageSize = 200;
/** Limit in milliseconds for statements that may read every event. */
const statementMaxMs = 3_600_000;
/** Milliseconds. */
const olderTransactionsMaxMs = 60_000;

const flag = { type: "boolean", default: false } as const;

await runCommand("redact", usage, async (args) => {
  const { values, positionals: ids } = parseCommandLine({
    args,
    allowPositionals: true,
    options: {
      "older-than": { type: "string" },
      account: { type: "string" },
      reason: { type: "string" },
      "keep-metadata": flag,
      unknown: flag,
      "dry-run": flag,
      rewrite: flag,
    },
  });
  const { account, "older-than": olderThan, "keep-metadata": keepsMetadata } = values;
  const age = olderThan === undefined ? undefined : readAge(olderThan);
  const reason = readReason(values.reason);
  const isChosen = ids.length > 0 || age !== undefined;
  if (ids.length > 0 && age !== undefined) throw new UsageError("expected ID... or --older-than, not both");
  if (!isChosen && !values.rewrite) throw new UsageError("expected ID..., --older-than AGE or --rewrite");
  if (account !== undefined && age === undefined) throw new UsageError("--account requires --older-than");
  const { DATABASE_URL, QUEUE_URL } = readSettings(process.env, settings);
  await using database = await openCommandDatabase(DATABASE_URL);
  await requireMigrated(database);
  const sql = database.within(statementMaxMs);
  if (ids.length > 0 && !values.unknown) await requireEvents(sql, ids);
  const { signal } = stopOnSignals();
  if (isChosen) {
    const pages = age === undefined ? pagesOf(ids) : unusedPages(sql, await instantBefore(sql, age), account);
    const total = age === undefined ? ids.length : await countResources(sql, account);
    const choice = { database, pages, keepsMetadata, total, signal };
    if (values["dry-run"]) return await countEach(choice);
    await recordCommand(database, "redact", age === undefined ? [...new Set(ids)] : undefined, reason);
    await redactEach(choice);
  }
  await vacuum(database, values.rewrite, signal);
  if (values.rewrite && URL.parse(QUEUE_URL)?.protocol === "sqs+embedded:") {
    const { rewriteFile } = await import("../queue/sqs/embedded/database.ts");
    if (rewriteFile(embeddedFolder(new URL(QUEUE_URL)))) say("rewrote the file of the queue");
  }
});

function readAge(age: string): string {
  const interval = intervalOf(age);
  if (interval === undefined) throw new UsageError(`${printable(age)} is no age such as 7y, 18mo or 90d`);
  return interval;
}

async function requireEvents(sql: Sql, ids: string[]): Promise<void> {
  const unknown = await withoutEvents(sql, ids);
  if (unknown.length === 0) return;
  throw new Error(`no event has the id ${printable(unknown.join(", "))}; --unknown redacts it nevertheless`);
}

/** The chosen resources. */
interface Choice {
  database: Database;
  /** `read` has the number of resources among which the ids of the page were chosen. */
  pages: Iterable<Page> | AsyncIterable<Page>;
  keepsMetadata: boolean;
  /** The number of all resources that are read. */
  total: number;
  signal: AbortSignal;
}
interface Page {
  ids: string[];
  read: number;
}

function* pagesOf(ids: string[]): Generator<Page> {
  for (const chunk of inChunks([...new Set(ids)], () => 1, pageSize))
    yield { ids: chunk, read: chunk.length };
}

async function* unusedPages(sql: Sql, since: string, account: string | undefined): AsyncGenerator<Page> {
  let page = await resourceIdsAfter(sql, "", pageSize, account);
  while (page.length > 0) {
    yield { ids: await unusedSince(sql, page, since), read: page.length };
    page = await resourceIdsAfter(sql, page.at(-1) as string, pageSize, account);
  }
}

/** Resolves with the sum of what the work returns for each page. A signal stops it between two pages. */
async function eachPage(
  { pages, total, signal }: Choice,
  work: (ids: string[]) => Promise<number>,
): Promise<number> {
  using progress = openProgress("read", total);
  let count = 0;
  for await (const { ids, read } of pages) {
    if (signal.aborted)
      throw new Error(`stopped; ${numeral(count)} resources were redacted; run the command again`);
    if (ids.length > 0) count += await work(ids);
    progress.advance(read);
  }
  return count;
}

async function countEach(choice: Choice): Promise<void> {
  const { database, keepsMetadata } = choice;
  const count = await eachPage(
    choice,
    async (ids) => (await notRedacted(database, ids, keepsMetadata)).length,
  );
  say(`would redact ${numeral(count)} resources`);
}

async function redactEach(choice: Choice): Promise<void> {
  const { database, keepsMetadata } = choice;
  const count = await eachPage(choice, (ids) => redact(database, ids, keepsMetadata));
  say(`redacted ${numeral(count)} resources`);
  await untilErased(database, choice.signal);
  using progress = openProgress("dead letters read");
  const letters = await redactDeadLetters(database, (read) => progress.advance(read));
  say(`redacted ${numeral(letters)} dead letters`);
}

/** Resolves when no transaction can read what was erased, or save what it has read before. */
async function untilErased(database: Database, signal: AbortSignal): Promise<void> {
  const erasedAt = await instantBefore(database, "0 days");
  const deadline = performance.now() + olderTransactionsMaxMs;
  while ((await countOlderTransactions(database, erasedAt)) > 0) {
    if (performance.now() > deadline) {
      throw new Error(
        "a transaction of the database has been in progress for a minute and keeps erased values; " +
          "run the command again after its end",
      );
    }
    await wait(100, undefined, { signal });
  }
}

async function vacuum(database: Database, rewrites: boolean, signal: AbortSignal): Promise<void> {
  await untilErased(database, signal);
  const statements = rewrites ? rewriteStatements : vacuumStatements;
  using progress = openProgress(`tables ${rewrites ? "rewritten" : "vacuumed"}`, statements.length);
  for (const statement of statements) {
    if (signal.aborted) throw new Error("stopped; run npm run redact -- --rewrite to free the rest");
    await database.runOutside(statement);
    progress.advance(1);
  }
  if (!rewrites)
    say(
      "erased values can remain in files until the space is used again; npm run redact -- --rewrite removes them",
    );
}
