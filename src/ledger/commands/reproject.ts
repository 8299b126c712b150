import type { Database, Sql } from "../../database/database.ts";
import { openCommandDatabase } from "../../database/databases.ts";
import { parseCommandLine, printable, runCommand, say, UsageError } from "../../process/command.ts";
import { numeral, openProgress } from "../../process/progress.ts";
import { readSettings } from "../../process/settings.ts";
import { stopOnSignals } from "../../process/stop.ts";
import { ingest } from "../intake/ingest.ts";
import { verify, verifySummaries } from "../intake/verify.ts";
import { settings } from "../settings.ts";
import { requireMigrated } from "../tables/migrate.ts";
import { countResources, knownResourceIds, resourceIdsAfter } from "../tables/resource.ts";
import { rebuildSummaries } from "../tables/summary/upkeep.ts";

const usage = `Usage: npm run reproject -- --all | --account ACCOUNT | ID... [--verify]

Rebuilds the projections of resources (transactions, payouts, agreements and payment instruments) from their events,
in the database at DATABASE_URL. The ledger can run meanwhile. Rows that do not change are not written.

  --all              all resources, and the summaries of transactions
  --account ACCOUNT  those of a gateway account
  ID...              those with these external ids
  --verify           writes nothing; lists each row that differs from its events, with the columns, up to 1000
                     summaries that differ from their transactions, and exits with 1 if there is one
  --help             print this text
`;

const batch = 200;
/** Limit in milliseconds for queries that may read every event or transaction. */
const searchMaxMs = 3_600_000;

await runCommand("reproject", usage, async (args) => {
  const { values, positionals: ids } = parseCommandLine({
    args,
    allowPositionals: true,
    options: { all: { type: "boolean" }, account: { type: "string" }, verify: { type: "boolean" } },
  });
  const { all, account, verify: onlyVerify } = values;
  if ([all, account, ids.length > 0].filter(Boolean).length !== 1) {
    throw new UsageError("expected one of --all, --account ACCOUNT and ID...");
  }
  const { DATABASE_URL } = readSettings(process.env, settings);
  await using database = await openCommandDatabase(DATABASE_URL);
  await requireMigrated(database);
  const sql = database.within(searchMaxMs);
  if (ids.length > 0) await requireKnownIds(sql, ids);
  const batches = ids.length > 0 ? [ids] : pages(sql, account);
  const total = ids.length || (await countResources(sql, account));
  if (total === 0 && account !== undefined) {
    throw new Error(`no event and no row has the account ${printable(account)}`);
  }

  if (onlyVerify) await verifyEach(database, batches, total, all);
  else await rebuildEach(database, batches, total, all);
});

type Batches = Iterable<string[]> | AsyncIterable<string[]>;

async function rebuildEach(database: Database, batches: Batches, total: number, all = false): Promise<void> {
  let changed = 0;
  const count = await each(batches, "rebuilt", total, async (ids) => {
    changed += (await ingest(database, { events: [], rebuilds: ids, deadLetters: [] })).changedRows;
  });
  say(`rebuilt ${numeral(count)} resources; ${numeral(changed)} rows changed`);
  if (!all) return;
  const differences = await verifySummaries(database);
  if (differences.length > 0) {
    await database.transaction(rebuildSummaries, { statementMs: searchMaxMs });
    say("rebuilt the summaries");
  } else say("the summaries did not differ from the transactions");
}

async function verifyEach(database: Database, batches: Batches, total: number, all = false): Promise<void> {
  const differences: string[] = [];
  const count = await each(batches, "verified", total, async (ids) => {
    differences.push(...(await verify(database, ids)));
  }).finally(() => sayEach(differences));
  say(`verified ${numeral(count)} resources`);
  if (all) {
    const ofSummaries = await verifySummaries(database);
    sayEach(ofSummaries);
    say("verified the summaries");
    differences.push(...ofSummaries);
  }
  if (differences.length > 0) throw new Error(`${numeral(differences.length)} rows differ from their events`);
}

function sayEach(differences: string[]): void {
  for (const difference of differences) say(printable(difference));
}

async function requireKnownIds(sql: Sql, ids: string[]): Promise<void> {
  const known = await knownResourceIds(sql, ids);
  const unknown = ids.filter((id) => !known.includes(id));
  if (unknown.length > 0) throw new Error(`no event and no row has the id ${printable(unknown.join(", "))}`);
}

async function* pages(sql: Sql, account: string | undefined): AsyncGenerator<string[]> {
  let ids = await resourceIdsAfter(sql, "", batch, account);
  while (ids.length > 0) {
    yield ids;
    ids = await resourceIdsAfter(sql, ids.at(-1) as string, batch, account);
  }
}

/** Runs the work for each batch and resolves with the number of ids. A signal stops it between two batches. */
async function each(
  batches: Batches,
  done: string,
  total: number,
  work: (ids: string[]) => Promise<unknown>,
): Promise<number> {
  const { signal } = stopOnSignals();
  using progress = openProgress(done, total);
  for await (const ids of batches) {
    if (signal.aborted)
      throw new Error(`stopped; ${numeral(progress.count)} of ${numeral(total)} were ${done}`);
    await work(ids);
    progress.advance(ids.length);
  }
  return progress.count;
}
