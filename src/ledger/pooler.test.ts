import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { expect, test } from "vitest";
import { describeIfAvailable } from "../../testing/describe-if-available.ts";
import { eventually } from "../../testing/eventually.ts";
import { freePort } from "../../testing/free-port.ts";
import { newFolder, run } from "../../testing/run.ts";
import { isPgbouncerInstalled, startPgbouncer } from "../../testing/servers/pgbouncer.ts";
import { isPostgresInstalled, startPostgres } from "../../testing/servers/postgres.ts";
import type { TestServer } from "../../testing/servers/server.ts";
import { openDatabase } from "../database/database.ts";
import { demoEvents } from "./commands/demo-events.ts";
import { ingest } from "./intake/ingest.ts";
import { readMessage } from "./intake/message.ts";
import { clientUrl, openQueue } from "./queue/queue.ts";
import type { NewEvent } from "./tables/event.ts";
import { migrate } from "./tables/migrate.ts";
import { savedRows } from "./tables/saved-rows.fixture.ts";

const areInstalled = isPostgresInstalled() && isPgbouncerInstalled();
describeIfAvailable("PostgreSQL or PgBouncer", areInstalled)("ledger processes behind PgBouncer", () => {
  test.each([
    ["shares 3 sessions among all", ["pool_mode = transaction", "default_pool_size = 3"]],
    ["gives each connection a session", ["pool_mode = session", "default_pool_size = 100"]],
  ])("which %s store every event and answer", async (_name, settings) => {
    await using server = await startPostgres();
    await using pooler = await startPgbouncer(server, ...settings);
    const url = `sqs+embedded:${newFolder()}?port=${await freePort()}`;
    await using queue = await openQueue(url);
    const ports = await Promise.all([freePort(), freePort(), freePort()]);
    const ledgers = ports.map((port) =>
      run("src/main.ts", {
        args: ["ledger"],
        env: {
          DATABASE_URL: pooler.url,
          QUEUE_URL: clientUrl(url),
          LEDGER_PORT: String(port),
          QUEUE_RECEIVER_BATCH_SIZE: "10",
        },
      }),
    );
    for (const { waitForOutput } of ledgers) await waitForOutput("listening");

    const ids = /"demo-[a-z]+"/g;
    const bodies = Array.from({ length: 20 }, (_, copy) =>
      demoEvents().map((event) =>
        JSON.stringify(event).replaceAll(ids, (id) => `${id.slice(0, -1)}-${copy}"`),
      ),
    ).flat();
    await using database = await openDatabase(server.url);
    const expected = await expectedRows(server, bodies);
    let isDone = false;
    const statuses = new Set<number>();
    const clients = ports.map(async (port) => {
      for (let n = 0; !isDone; n += 1) {
        const path = n % 3 === 0 ? "?account_id=demo" : `demo-success-${n % 20}?account_id=demo`;
        const { statusCode, body } = await request(`http://127.0.0.1:${port}/v1/transaction/${path}`);
        await body.dump();
        statuses.add(statusCode);
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
    await eventually(async () => expect((await queue.check()).waiting).toBe(0));
    for (const { child } of ledgers) child.kill("SIGTERM");
    for (const { exit } of ledgers) expect(await exit).toMatchObject({ code: 0, errors: "" });

    expect(await savedRows(database)).toEqual(expected);
    expect(await database.query("select reason from dead_letter")).toEqual([]);
    expect(ledgers.flatMap(({ output }) => output().match(/"level":[56]0.*/g) ?? [])).toEqual([]);
  });
});

/** The rows that the events give when they are stored in one batch, in a separate database. */
async function expectedRows(server: TestServer, bodies: string[]) {
  const url = new URL(server.url);
  url.pathname = "expected";
  {
    await using database = await openDatabase(server.url);
    await database.run("create database expected");
  }
  await using database = await openDatabase(url.href);
  await migrate(database);
  const events = bodies.map((body) => (readMessage(body) as { event: NewEvent }).event);
  await ingest(database, { events, rebuilds: [], deadLetters: [] });
  return await savedRows(database);
}
