import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { expect, test } from "vitest";
import { outputOf } from "../../../testing/child-process.ts";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { message } from "../../../testing/messages.ts";
import { type Random, seeded } from "../../../testing/random.ts";
import { newFolder } from "../../../testing/run.ts";
import {
  isPostgresInstalled,
  postgresProgram,
  runOn,
  startPostgres,
  startReplicaOf,
  untilRow,
} from "../../../testing/servers/postgres.ts";
import { type Database, DatabaseUnavailable } from "../../database/database.ts";
import { openDatabase, openReplica } from "../../database/databases.ts";
import { saveEvents } from "../tables/event.ts";
import { event } from "../tables/feed/feed.fixture.ts";
import { ledgerIdOf } from "../tables/identity.ts";
import { startLedger } from "./ledger.fixture.ts";

const accounts = ["57", "58"];
let events = 0;
let committed = 0;

/** Stores events in transactions that are held open for different times, until `stop` aborts. A failed one is lost. */
async function write(database: Database, random: Random, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const attempt = database.transaction(async (sql) => {
      const batch = Array.from({ length: random.integer(1, 4) }, () => {
        events += 1;
        return event(`pay${events}`, 0, { event_details: { gateway_account_id: random.pick(accounts) } });
      });
      await saveEvents(sql, batch);
      await sleep(random.chance(0.2) ? random.integer(1, 150) : 0);
      return batch.length;
    });
    try {
      committed += await attempt;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      await sleep(50);
    }
  }
}

/** Follows the feed of one or all accounts, in pages of different sizes, over whichever service it is given. */
function openReader(random: Random, account?: string) {
  const ids: number[] = [];
  let cursor: string | undefined;
  return {
    ids,
    account,
    /** Reads the next page. Resolves with true at the end of the feed. */
    async read(base: string): Promise<boolean> {
      const query = new URLSearchParams({
        limit: String(random.integer(1, 40)),
        ...(account && { account_id: account }),
        ...(cursor && { cursor }),
      });
      const { statusCode, body, headers } = await request(`${base}/v1/event?${query}`);
      const page = (await body.json()) as { events: { event_id: number }[]; next_cursor: string };
      if (statusCode === 503) return false;
      expect([statusCode, page]).toEqual([200, expect.anything()]);
      ids.push(...page.events.map(({ event_id }) => event_id));
      cursor = page.next_cursor;
      return headers.link === undefined;
    },
  };
}
type Reader = ReturnType<typeof openReader>;

/** The ids of stored events in the order of the feed. */
async function storedIds(database: Database, account?: string): Promise<number[]> {
  const rows = await database.query<{ id: bigint }>(
    `select event.id from event_feed join event on event.id = event_id
     where $1::text is null or gateway_account_id = $1 order by sql_transaction, event_id`,
    [account ?? null],
  );
  return rows.map(({ id }) => Number(id));
}

/** Waits until the writers have stored this number of further events. */
async function untilWritten(count: number): Promise<void> {
  const until = committed + count;
  await eventually(() => expect(committed).toBeGreaterThan(until));
}

/** Lets writers write and readers read during this work, and then readers until each has all events. */
async function runFor(
  database: Database,
  random: Random,
  readers: [Reader, string][],
  work: () => Promise<unknown>,
) {
  const stop = new AbortController();
  const writing = Promise.all(Array.from({ length: 6 }, () => write(database, random.fork(), stop.signal)));
  const reading = readers.map(async ([reader, base]) => {
    while (!stop.signal.aborted) {
      await reader.read(base);
      await sleep(5);
    }
  });
  await work();
  stop.abort();
  await writing;
  await Promise.all(reading);
  for (const [reader, base] of readers) {
    const expected = await storedIds(database, reader.account);
    // A replica can be behind at first.
    await eventually(async () => {
      await reader.read(base);
      expect(reader.ids.length).toBeGreaterThanOrEqual(expected.length);
    });
    expect(await reader.read(base)).toBe(true);
    expect(reader.ids).toEqual(expected);
  }
}

describeIfAvailable("PostgreSQL", isPostgresInstalled())("the feed of events", () => {
  test("has no gap from a replica, through restarts and after a dump was restored in another server", async () => {
    const random = seeded(Number(process.env.SEED ?? Date.now() % 1e9));
    await using primary = await startPostgres();
    await using standby = await startReplicaOf(primary);
    const readers = [
      openReader(random.fork()),
      openReader(random.fork()),
      openReader(random.fork(), accounts[0]),
    ] as const;
    const dump = join(newFolder(), "ledger.dump");
    let dumpedId: string;
    {
      await using replica = await openReplica(standby.url);
      await using ofPrimary = await startLedger({ open: () => openDatabase(primary.url) });
      await using ofReplica = await startLedger({ open: () => openDatabase(primary.url), replica });
      const { database } = ofPrimary;
      const bases: [Reader, string][] = [
        [readers[0], ofPrimary.base],
        [readers[1], ofReplica.base],
        [readers[2], ofReplica.base],
      ];
      await runFor(database, random, bases, async () => {
        await untilWritten(100);
        await primary.restart();
        await untilWritten(100);
        await standby.restart();
        await untilWritten(100);
        await primary.kill();
        await primary.start();
        await untilWritten(100);
      });
      expect(readers[0].ids.length).toBeGreaterThan(300);
      dumpedId = await ledgerIdOf(database);
      await outputOf([postgresProgram("pg_dump") ?? "", "--format=custom", `--file=${dump}`, primary.url]);
    }
    await using restored = await startPostgres();
    const options = ["--exit-on-error", "--single-transaction", "--no-owner"];
    await outputOf([postgresProgram("pg_restore") ?? "", ...options, `--dbname=${restored.url}`, dump]);
    await using ledger = await startLedger({ open: () => openDatabase(restored.url) });
    const [{ is_lower } = { is_lower: false }] = await ledger.database.query<{ is_lower: boolean }>(
      `select pg_current_xact_id()::text::bigint < (select max(sql_transaction) from event_feed) as is_lower`,
    );
    expect(is_lower).toBe(true);
    expect(await ledgerIdOf(ledger.database)).not.toBe(dumpedId);
    await runFor(
      ledger.database,
      random,
      readers.map((reader) => [reader, ledger.base]),
      () => untilWritten(100),
    );
  });

  test("ends a stream whose last events a failover has lost, and then rejects its cursor", async () => {
    await using primary = await startPostgres();
    await using standby = await startReplicaOf(primary);
    const hosts = [primary, standby].map(({ url }) => new URL(url).host).join();
    await using ledger = await startLedger({
      open: () => openDatabase(`postgres://postgres@${hosts}/postgres`),
    });
    const created = (id: string) => message({ resource_external_id: id });
    await ledger.store([created("kept")]);
    await untilRow(standby, "select from event where resource_external_id = 'kept'");
    const stream = await ledger.listenToFeed();
    await standby.kill();
    await ledger.store(...Array.from({ length: 10 }, (_, index) => [created(`lost ${index}`)]));
    await eventually(() => expect(stream.events()).toHaveLength(11));
    const cursor = stream.events().at(-1)?.id;
    await primary.kill();
    await standby.start();
    await runOn(standby, "select pg_promote()");

    let isOpen = true;
    const ended = stream.ended.finally(() => {
      isOpen = false;
    });
    for (let index = 0; isOpen && index < 3000; index += 1) {
      await ledger.send(created(`later ${index}`));
      await sleep(20);
    }
    expect(isOpen).toBe(false);
    expect(await ended).toBe("by the service");
    expect(stream.events()).toHaveLength(11);
    for (const accept of ["text/event-stream", "application/json"]) {
      const headers = { accept };
      expect((await ledger.request(`/v1/event?cursor=${cursor}`, { headers })).status).toBe(410);
    }
  });
});
