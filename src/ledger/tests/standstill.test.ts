import { afterEach, beforeEach, expect, test } from "vitest";
import { openTcpProxy } from "../../../simulation/tcp-proxy.ts";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { isPostgresInstalled, startPostgres } from "../../../testing/servers/postgres.ts";
import type { TestServer } from "../../../testing/servers/server.ts";
import type { Database } from "../../database/database.ts";
import { openDatabase } from "../../database/databases.ts";
import type { Queue } from "../queue/queue.ts";
import { migrate } from "../tables/migrate.ts";
import { savedRows } from "../tables/saved-rows.fixture.ts";
import { expectedRows, launchLedger, openSharedQueue } from "./ledger-process.fixture.ts";

/** Limit for intake to continue, in milliseconds, on a machine that does its work at once. */
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
    const shared = await openSharedQueue();
    queue = opened.use(shared.queue);
    queueUrl = shared.queueUrl;
  });
  afterEach(() => opened.disposeAsync());

  /** Starts a ledger process. Default: one batch in flight, so that no batch waits in it that another process could store. */
  async function startLedger(url: string, concurrency = 1) {
    const start = performance.now();
    const QUEUE_RECEIVER_CONCURRENCY = String(concurrency);
    const ledger = await launchLedger({ DATABASE_URL: url, QUEUE_URL: queueUrl, QUEUE_RECEIVER_CONCURRENCY });
    await ledger.ready();
    return { ...ledger, startMs: performance.now() - start };
  }

  const stored = (eventType: string) =>
    database.query("select from event where event_type like $1", [eventType]);

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

  const untilStored = (count: number, eventType = "%") =>
    eventually(async () => expect(await stored(eventType)).toHaveLength(count));
  /** Expects that this number of events is stored in time. A start of a process, several times, is what this machine is slower. */
  async function expectStoredInTime(count: number, { startMs }: { startMs: number }, eventType?: string) {
    const start = performance.now();
    await untilStored(count, eventType);
    expect(performance.now() - start).toBeLessThan(standstillMaxMs + 5 * startMs);
  }

  /** Expects that the rows are those of the same events stored without faults, and that each process exits with 0. */
  async function expectRowsAndExit(bodies: string[], ledgers: Awaited<ReturnType<typeof startLedger>>[]) {
    await eventually(async () => expect(await queue.countWaiting()).toBe(0));
    await untilStored(bodies.length);
    for (const { stop } of ledgers) await stop();
    expect(await savedRows(database)).toEqual(await expectedRows(server.url, bodies));
  }

  test.each([1, 40])("while a process is suspended in a batch of %i", async (payments) => {
    const [before, after] = [
      messages(payments, "PAYMENT_CREATED", 10),
      messages(payments, "CAPTURE_CONFIRMED", 20),
    ];
    const release = await lockEvents();
    const suspended = await startLedger(server.url);
    await queue.send(before);
    await eventually(async () => expect(await waitingBatches()).toHaveLength(1));
    suspended.child.kill("SIGSTOP");
    await release();
    const other = await startLedger(server.url);
    await queue.send(after);
    await expectStoredInTime(after.length, other, "CAPTURE_CONFIRMED");
    suspended.child.kill("SIGCONT");
    await expectRowsAndExit([...before, ...after], [suspended, other]);
  });

  test("while the network between a process and the database drops every packet during a batch", async () => {
    const [before, after] = [messages(40, "PAYMENT_CREATED", 10), messages(40, "CAPTURE_CONFIRMED", 20)];
    await using proxy = await openTcpProxy(server.url);
    const release = await lockEvents();
    const disconnected = await startLedger(proxy.url);
    await queue.send(before);
    await eventually(async () => expect(await waitingBatches()).toHaveLength(1));
    proxy.dropPackets();
    await release();
    const other = await startLedger(server.url);
    await queue.send(after);
    await expectStoredInTime(after.length, other, "CAPTURE_CONFIRMED");
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
    const ledger = await startLedger(proxy.url, 4);
    // Each of the 4 batches in flight leaves an idle connection.
    const releaseFirst = await lockEvents();
    for (const body of before) await queue.send([body]);
    await eventually(async () => expect((await waitingBatches()).length).toBe(4));
    await releaseFirst();
    await untilStored(before.length);
    const release = await lockEvents();
    await queue.send(during.slice(0, 1));
    await eventually(async () => expect(await waitingBatches()).toHaveLength(1));
    proxy.dropPackets();
    await release();
    proxy.restore();
    await queue.send([...during.slice(1), ...after]);
    await expectStoredInTime(3 * 40, ledger);
    await expectRowsAndExit([...before, ...during, ...after], [ledger]);
  });
});
