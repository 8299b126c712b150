import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { isPgbouncerInstalled, startPgbouncer } from "../../../testing/servers/pgbouncer.ts";
import { isPostgresInstalled, startPostgres } from "../../../testing/servers/postgres.ts";
import { openDatabase } from "../../database/databases.ts";
import { savedRows } from "../tables/saved-rows.fixture.ts";
import { demoCopies, expectedRows, launchLedger, openSharedQueue } from "./ledger-process.fixture.ts";

const areInstalled = isPostgresInstalled() && isPgbouncerInstalled();
describeIfAvailable("PostgreSQL or PgBouncer", areInstalled)("ledger processes behind PgBouncer", () => {
  test.each([
    ["shares 3 sessions among all", ["pool_mode = transaction", "default_pool_size = 3"]],
    ["gives each connection a session", ["pool_mode = session", "default_pool_size = 100"]],
  ])("which %s store every event and answer", async (_name, settings) => {
    await using server = await startPostgres();
    await using pooler = await startPgbouncer(server, ...settings);
    const shared = await openSharedQueue();
    await using queue = shared.queue;
    const env = { DATABASE_URL: pooler.url, QUEUE_URL: shared.queueUrl, QUEUE_RECEIVER_BATCH_SIZE: "10" };
    const ledgers = await Promise.all([1, 2, 3].map(() => launchLedger(env)));
    for (const { ready } of ledgers) await ready();

    const bodies = demoCopies(20);
    await using database = await openDatabase(server.url);
    const expected = await expectedRows(server.url, bodies);
    let isDone = false;
    const statuses = new Set<number>();
    const clients = ledgers.map(async ({ get }) => {
      for (let n = 0; !isDone; n += 1) {
        const path = n % 3 === 0 ? "?account_id=demo" : `demo-success-${n % 20}?account_id=demo`;
        statuses.add((await get(`/v1/transaction/${path}`)).status);
        await sleep(10);
      }
    });
    for (let sent = 0; sent < bodies.length; sent += 100) await queue.send(bodies.slice(sent, sent + 100));
    await eventually(async () =>
      expect(await database.query("select from event")).toHaveLength(expected.events.length),
    );
    isDone = true;
    await Promise.all(clients);
    // A lookup of a transaction that is not stored yet returns 404.
    expect([...statuses.difference(new Set([200, 404]))]).toEqual([]);
    expect(statuses).toContain(200);
    await eventually(async () => expect(await queue.countWaiting()).toBe(0));
    await Promise.all(ledgers.map(({ stop }) => stop()));

    expect(await savedRows(database)).toEqual(expected);
    expect(await database.query("select reason from dead_letter")).toEqual([]);
    expect(ledgers.flatMap(({ output }) => output().match(/"level":[56]0.*/g) ?? [])).toEqual([]);
  });
});
