import { afterEach, beforeEach, expect, test } from "vitest";
import { openTcpProxy } from "../../simulation/tcp-proxy.ts";
import { describeIfAvailable } from "../../testing/describe-if-available.ts";
import { eventually } from "../../testing/eventually.ts";
import { freePort } from "../../testing/free-port.ts";
import { newFolder, run } from "../../testing/run.ts";
import { isPostgresInstalled, startPostgres } from "../../testing/servers/postgres.ts";
import type { TestServer } from "../../testing/servers/server.ts";
import { type Database, openDatabase } from "../database/database.ts";
import { ingest } from "./intake/ingest.ts";
import { readMessage } from "./intake/message.ts";
import { clientUrl, openQueue, type Queue } from "./queue/queue.ts";
import type { NewEvent } from "./tables/event.ts";
import { migrate } from "./tables/migrate.ts";
import { savedRows } from "./tables/saved-rows.fixture.ts";

/** Limit for intake to continue, in milliseconds. */
const standstillMaxMs = 20_000;

/** Messages of one event for each payment, with this type and minute. */
const messages = (payments: number, event_type: string, minute: number) =>
  Array.from({ length: payments }, (_, index) =>
    JSON.stringify({
      event_type,
      resource_type: "payment",
      resource_external_id: `pay-${index}`,
      timestamp: `2024-03-05T09:${minute}:00Z`,
      event_details: { gateway_account_id: "57", amount: index, description: "x".repeat(index * 50) },
    }),
  );

describeIfAvailable("PostgreSQL", isPostgresInstalled())("intake continues within 20 seconds", () => {
  let opened: AsyncDisposableStack;
  let server: TestServer;
  let database: Database;
  let queue: Queue;
  let queueUrl: string;
  beforeEach(async () => {
    opened = new AsyncDisposableStack();
    server = opened.use(await startPostgres());
    database = opened.use(await openDatabase(server.url));
    await migrate(database);
    const url = `sqs+embedded:${newFolder()}?port=${await freePort()}`;
    queue = opened.use(await openQueue(url));
    queueUrl = clientUrl(url);
  });
  afterEach(() => opened.disposeAsync());

  /** Starts a ledger process. Default: one batch in flight, so that no batch waits in it that another process could store. */
  function startLedger(url: string, concurrency = 1) {
    const env = {
      DATABASE_URL: url,
      QUEUE_URL: queueUrl,
      LEDGER_PORT: "0",
      QUEUE_RECEIVER_CONCURRENCY: String(concurrency),
      LOG_LEVEL: "info",
    };
    return run("src/main.ts", { args: ["ledger"], env });
  }

  const stored = async () =>
    Number((await database.query<{ count: bigint }>("select count(*) from event"))[0]?.count);

  /** Locks the table of events, so that a batch waits in its transaction and holds its own locks. Returns the release. */
  async function lockEvents() {
    const held = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const holding = database.transaction(
      async (sql) => {
        await sql.run("lock table event in share row exclusive mode");
        held.resolve();
        await released.promise;
      },
      { idleMs: 120_000 },
    );
    await held.promise;
    return async () => {
      released.resolve();
      await holding;
    };
  }
  const waitingBatches = () =>
    database.query("select from pg_locks where relation = 'event'::regclass and not granted");

  /** Waits until this number of events is stored. Returns the duration in milliseconds. */
  async function timeUntilStored(count: number): Promise<number> {
    const start = performance.now();
    await eventually(async () => expect(await stored()).toBe(count));
    return performance.now() - start;
  }

  /** Expects that the rows are those of the same events stored without faults, and that each process exits with 0. */
  async function expectRowsAndExit(bodies: string[], ledgers: ReturnType<typeof startLedger>[]) {
    await eventually(async () => expect((await queue.check()).waiting).toBe(0));
    await eventually(async () => expect(await stored()).toBe(bodies.length));
    for (const { child } of ledgers) child.kill("SIGTERM");
    for (const { exit } of ledgers) expect(await exit).toMatchObject({ code: 0, errors: "" });
    const url = new URL(server.url);
    url.pathname = "expected";
    await database.run("create database expected");
    await using other = await openDatabase(url.href);
    await migrate(other);
    const events = bodies.map((body) => (readMessage(body) as { event: NewEvent }).event);
    await ingest(other, { events, rebuilds: [], deadLetters: [] });
    expect(await savedRows(database)).toEqual(await savedRows(other));
  }

  test.each([1, 40])("while a process is suspended in a batch of %i", async (payments) => {
    const [before, after] = [
      messages(payments, "PAYMENT_CREATED", 10),
      messages(payments, "CAPTURE_CONFIRMED", 20),
    ];
    const release = await lockEvents();
    const suspended = startLedger(server.url);
    await suspended.waitForOutput("listening");
    await queue.send(before);
    await eventually(async () => expect(await waitingBatches()).toHaveLength(1));
    suspended.child.kill("SIGSTOP");
    await release();
    const other = startLedger(server.url);
    await other.waitForOutput("listening");
    await queue.send(after);
    expect(await timeUntilStored(after.length)).toBeLessThan(standstillMaxMs);
    suspended.child.kill("SIGCONT");
    await expectRowsAndExit([...before, ...after], [suspended, other]);
  });

  test("while the network between a process and the database drops every packet during a batch", async () => {
    const [before, after] = [messages(40, "PAYMENT_CREATED", 10), messages(40, "CAPTURE_CONFIRMED", 20)];
    await using proxy = await openTcpProxy(server.url);
    const release = await lockEvents();
    const disconnected = startLedger(proxy.url);
    await disconnected.waitForOutput("listening");
    await queue.send(before);
    await eventually(async () => expect(await waitingBatches()).toHaveLength(1));
    proxy.dropPackets();
    await release();
    const other = startLedger(server.url);
    await other.waitForOutput("listening");
    await queue.send(after);
    expect(await timeUntilStored(after.length)).toBeLessThan(standstillMaxMs);
    proxy.restore();
    await expectRowsAndExit([...before, ...after], [disconnected, other]);
  });

  test("while every existing connection is silent and new ones work", async () => {
    const [before, during, after] = [
      messages(40, "PAYMENT_CREATED", 10),
      messages(40, "CAPTURE_CONFIRMED", 20),
      messages(40, "CAPTURE_SUBMITTED", 30),
    ];
    await using proxy = await openTcpProxy(server.url);
    const ledger = startLedger(proxy.url, 4);
    await ledger.waitForOutput("listening");
    // Each of the 4 batches in flight leaves an idle connection.
    const releaseFirst = await lockEvents();
    for (const body of before) await queue.send([body]);
    await eventually(async () => expect((await waitingBatches()).length).toBe(4));
    await releaseFirst();
    await timeUntilStored(before.length);
    const release = await lockEvents();
    await queue.send(during.slice(0, 1));
    await eventually(async () => expect(await waitingBatches()).toHaveLength(1));
    proxy.dropPackets();
    await release();
    proxy.restore();
    await queue.send([...during.slice(1), ...after]);
    expect(await timeUntilStored(3 * 40)).toBeLessThan(standstillMaxMs);
    await expectRowsAndExit([...before, ...during, ...after], [ledger]);
  });
});
