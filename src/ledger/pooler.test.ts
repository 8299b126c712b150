import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { expect, test } from "vitest";
import { describeNeeding } from "../../testing/describe-needing.ts";
import { eventually } from "../../testing/eventually.ts";
import { freePort } from "../../testing/free-port.ts";
import { newFolder, run } from "../../testing/run.ts";
import { isPgbouncerInstalled, startPgbouncer } from "../../testing/servers/pgbouncer.ts";
import { isPostgresInstalled, startPostgres } from "../../testing/servers/postgres.ts";
import type { TestServer } from "../../testing/servers/server.ts";
import { demoEvents } from "./commands/demo-events.ts";
import { openDatabase } from "./database/database.ts";
import { ingest } from "./intake/ingest.ts";
import { readMessage } from "./intake/message.ts";
import { clientUrl, openQueue } from "./queue/queue.ts";
import type { NewEvent } from "./tables/event.ts";
import { keptRows } from "./tables/kept-rows.fixture.ts";
import { migrate } from "./tables/migrate.ts";

const areInstalled = isPostgresInstalled() && isPgbouncerInstalled();
describeNeeding("PostgreSQL or PgBouncer", areInstalled)("processes of the ledger behind a PgBouncer", () => {
  test.each([
    ["shares 3 sessions among all", ["pool_mode = transaction", "default_pool_size = 3"]],
    ["gives each connection a session", ["pool_mode = session", "default_pool_size = 100"]],
  ])("which %s store every event and answer", async (_name, lines) => {
    await using server = await startPostgres();
    await using pooler = await startPgbouncer(server, ...lines);
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
    const expected = await undisturbed(server, bodies);
    let isOver = false;
    const statuses = new Set<number>();
    const asking = ports.map(async (port) => {
      for (let n = 0; !isOver; n += 1) {
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
    isOver = true;
    await Promise.all(asking);
    // A lookup of what has not come yet is 404.
    expect([...statuses.difference(new Set([200, 404]))]).toEqual([]);
    expect(statuses).toContain(200);
    await eventually(async () => expect((await queue.check()).waiting).toBe(0));
    for (const { child } of ledgers) child.kill("SIGTERM");
    for (const { exit } of ledgers) expect(await exit).toMatchObject({ code: 0, errors: "" });

    expect(await keptRows(database)).toEqual(expected);
    expect(await database.query("select reason from dead_letter")).toEqual([]);
    expect(ledgers.flatMap(({ output }) => output().match(/"level":[56]0.*/g) ?? [])).toEqual([]);
  });
});

/** The rows of events that came without any trouble, in a database of their own. */
async function undisturbed(server: TestServer, bodies: string[]) {
  const url = new URL(server.url);
  url.pathname = "undisturbed";
  {
    await using database = await openDatabase(server.url);
    await database.run("create database undisturbed");
  }
  await using database = await openDatabase(url.href);
  await migrate(database);
  const events = bodies.map((body) => (readMessage(body) as { event: NewEvent }).event);
  await ingest(database, { events, rebuilds: [], deadLetters: [] });
  return await keptRows(database);
}
