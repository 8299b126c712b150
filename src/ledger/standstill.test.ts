import { afterEach, beforeEach, expect, test } from "vitest";
import { openLine } from "../../simulation/line.ts";
import { describeNeeding } from "../../testing/describe-needing.ts";
import { eventually } from "../../testing/eventually.ts";
import { freePort } from "../../testing/free-port.ts";
import { newFolder, run } from "../../testing/run.ts";
import { isPostgresInstalled, startPostgres } from "../../testing/servers/postgres.ts";
import type { TestServer } from "../../testing/servers/server.ts";
import { type Database, openDatabase } from "./database/database.ts";
import { ingest } from "./intake/ingest.ts";
import { readMessage } from "./intake/message.ts";
import { clientUrl, openQueue, type Queue } from "./queue/queue.ts";
import type { NewEvent } from "./tables/event.ts";
import { keptRows } from "./tables/kept-rows.fixture.ts";
import { migrate } from "./tables/migrate.ts";

/** Intake goes on within so many milliseconds, whatever stands still. */
const standstillMaxMs = 20_000;

/** Events of payments, as messages: each of them with this type and this minute. */
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

describeNeeding("PostgreSQL", isPostgresInstalled())("intake goes on within 20 seconds", () => {
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

  /** A process of the ledger, with one batch at a time in hand, so that none waits in it that another could take. */
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

  /** While this lock is held, a batch waits in its transaction, with the locks that it has taken. */
  async function holdEvents() {
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
  const batchesThatWait = () =>
    database.query("select from pg_locks where relation = 'event'::regclass and not granted");

  /** How long it takes until so many events are stored, in milliseconds. */
  async function timeUntilStored(count: number): Promise<number> {
    const begun = performance.now();
    await eventually(async () => expect(await stored()).toBe(count));
    return performance.now() - begun;
  }

  /** The rows are those of events that came without any trouble, and the process ends as it should. */
  async function expectUndisturbed(bodies: string[], ledgers: ReturnType<typeof startLedger>[]) {
    await eventually(async () => expect((await queue.check()).waiting).toBe(0));
    await eventually(async () => expect(await stored()).toBe(bodies.length));
    for (const { child } of ledgers) child.kill("SIGTERM");
    for (const { exit } of ledgers) expect(await exit).toMatchObject({ code: 0, errors: "" });
    const url = new URL(server.url);
    url.pathname = "undisturbed";
    await database.run("create database undisturbed");
    await using other = await openDatabase(url.href);
    await migrate(other);
    const events = bodies.map((body) => (readMessage(body) as { event: NewEvent }).event);
    await ingest(other, { events, rebuilds: [], deadLetters: [] });
    expect(await keptRows(database)).toEqual(await keptRows(other));
  }

  test.each([1, 40])("while a process is suspended in a batch of %i", async (payments) => {
    const [before, after] = [
      messages(payments, "PAYMENT_CREATED", 10),
      messages(payments, "CAPTURE_CONFIRMED", 20),
    ];
    const release = await holdEvents();
    const stopped = startLedger(server.url);
    await stopped.waitForOutput("listening");
    await queue.send(before);
    await eventually(async () => expect(await batchesThatWait()).toHaveLength(1));
    stopped.child.kill("SIGSTOP");
    await release();
    const other = startLedger(server.url);
    await other.waitForOutput("listening");
    await queue.send(after);
    expect(await timeUntilStored(after.length)).toBeLessThan(standstillMaxMs);
    stopped.child.kill("SIGCONT");
    await expectUndisturbed([...before, ...after], [stopped, other]);
  });

  test("while the network between a process and the database drops every packet during a batch", async () => {
    const [before, after] = [messages(40, "PAYMENT_CREATED", 10), messages(40, "CAPTURE_CONFIRMED", 20)];
    await using line = await openLine(server.url);
    const release = await holdEvents();
    const away = startLedger(line.url);
    await away.waitForOutput("listening");
    await queue.send(before);
    await eventually(async () => expect(await batchesThatWait()).toHaveLength(1));
    line.silence();
    await release();
    const other = startLedger(server.url);
    await other.waitForOutput("listening");
    await queue.send(after);
    expect(await timeUntilStored(after.length)).toBeLessThan(standstillMaxMs);
    line.restore();
    await expectUndisturbed([...before, ...after], [away, other]);
  });

  test("while every existing connection is silent and new ones work", async () => {
    const [before, during, after] = [
      messages(40, "PAYMENT_CREATED", 10),
      messages(40, "CAPTURE_CONFIRMED", 20),
      messages(40, "CAPTURE_SUBMITTED", 30),
    ];
    await using line = await openLine(server.url);
    const ledger = startLedger(line.url, 4);
    await ledger.waitForOutput("listening");
    // Each batch in hand leaves a connection that is idle then.
    const first = await holdEvents();
    for (const body of before) await queue.send([body]);
    await eventually(async () => expect((await batchesThatWait()).length).toBe(4));
    await first();
    await timeUntilStored(before.length);
    const release = await holdEvents();
    await queue.send(during.slice(0, 1));
    await eventually(async () => expect(await batchesThatWait()).toHaveLength(1));
    line.silence();
    await release();
    line.restore();
    await queue.send([...during.slice(1), ...after]);
    expect(await timeUntilStored(3 * 40)).toBeLessThan(standstillMaxMs);
    await expectUndisturbed([...before, ...during, ...after], [ledger]);
  });
});
