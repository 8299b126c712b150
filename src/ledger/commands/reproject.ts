import { parseCommandLine, printable, runCommand, say, UsageFault } from "../../process/command.ts";
import { numeral, openProgress } from "../../process/progress.ts";
import { readSettings } from "../../process/settings.ts";
import { stopOnSignals } from "../../process/stop.ts";
import { type Database, openDatabase, type Sql } from "../database/database.ts";
import { ingest } from "../intake/ingest.ts";
import { verify } from "../intake/verify.ts";
import { settings } from "../settings.ts";
import { refuseUnmigrated } from "../tables/migrate.ts";
import { countResources, knownResourceIds, resourceIdsAfter } from "../tables/resource.ts";

const usage = `Usage: npm run reproject -- --all | --account ACCOUNT | ID... [--verify]

Folds transactions and payouts anew from their events, in the database at DATABASE_URL, while the ledger runs.
Rows that are right are not written.

  --all              all there are
  --account ACCOUNT  those of a gateway account
  ID...              those with these external ids
  --verify           writes nothing; lists each row that differs from its events and in which columns, and
                     exits with 1 when any does
  --help             print this text
`;

const batch = 200;
/** Milliseconds: what looks for resources may read every event. */
const searchMaxMs = 3_600_000;

await runCommand("reproject", usage, async (args) => {
  const { values, positionals: ids } = parseCommandLine({
    args,
    allowPositionals: true,
    options: { all: { type: "boolean" }, account: { type: "string" }, verify: { type: "boolean" } },
  });
  const { all, account, verify: onlyVerify } = values;
  if ([all, account, ids.length > 0].filter(Boolean).length !== 1) {
    throw new UsageFault("say one of --all, --account ACCOUNT and ID...");
  }
  const { DATABASE_URL } = readSettings(process.env, settings);
  await using database = await openDatabase(DATABASE_URL);
  await refuseUnmigrated(database);
  const sql = database.within(searchMaxMs);
  if (ids.length > 0) await refuseUnknownIds(sql, ids);
  const batches = ids.length > 0 ? [ids] : pages(sql, account);
  const total = ids.length || (await countResources(sql, account));
  if (total === 0 && account !== undefined) {
    throw new Error(`no event and no row tells of the account ${printable(account)}`);
  }

  if (onlyVerify) await verifyEach(database, batches, total);
  else await foldEach(database, batches, total);
});

type Batches = Iterable<string[]> | AsyncIterable<string[]>;

async function foldEach(database: Database, batches: Batches, total: number): Promise<void> {
  const count = await each(batches, "folded", total, (ids) =>
    ingest(database, { events: [], reprojections: ids, parked: [] }),
  );
  say(`folded ${numeral(count)} transactions and payouts`);
}

async function verifyEach(database: Database, batches: Batches, total: number): Promise<void> {
  const differences: string[] = [];
  const count = await each(batches, "verified", total, async (ids) => {
    differences.push(...(await verify(database, ids)));
  }).finally(() => {
    for (const difference of differences) say(printable(difference));
  });
  say(`verified ${numeral(count)} transactions and payouts`);
  if (differences.length > 0) throw new Error(`${numeral(differences.length)} rows differ from their events`);
}

async function refuseUnknownIds(sql: Sql, ids: string[]): Promise<void> {
  const known = await knownResourceIds(sql, ids);
  const unknown = ids.filter((id) => !known.includes(id));
  if (unknown.length > 0) throw new Error(`no event and no row tells of ${printable(unknown.join(", "))}`);
}

async function* pages(sql: Sql, account: string | undefined): AsyncGenerator<string[]> {
  let ids = await resourceIdsAfter(sql, "", batch, account);
  while (ids.length > 0) {
    yield ids;
    ids = await resourceIdsAfter(sql, ids.at(-1) as string, batch, account);
  }
}

/** Does the work for each batch, and answers for how many; a signal ends it between two batches. */
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
