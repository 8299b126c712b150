import { gzipSync } from "node:zlib";
import { Registry } from "prom-client";
import { expect, test, vi } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { message } from "../../../testing/messages.ts";
import { type Database, DatabaseUnavailable } from "../../database/database.ts";
import { openLog } from "../../process/log.ts";
import { pounds } from "../../values/currency.ts";
import type { Queue, ReceivedMessage } from "../queue/queue.ts";
import { openQueue } from "../queue/queues.ts";
import { ledgerDatabaseOfFile } from "../tables/ledger-database.fixture.ts";
import { openIntake } from "./intake.ts";
import { createReceiver } from "./receiver.ts";

const database = await ledgerDatabaseOfFile();

const unavailable = new DatabaseUnavailable("it is down");

/** Starts a receiver on a queue in memory. Its database has the given faults, and `transform` changes its deliveries. */
async function startReceiver({
  faults = {} as Partial<Database>,
  limits = {},
  transform = (deliveries: ReceivedMessage[]) => deliveries,
} = {}) {
  const queue = await openQueue("memory:");
  const receive = vi.fn<Queue["receive"]>(async (...args) => transform(await queue.receive(...args)));
  const retry = vi.fn<Queue["retry"]>((deliveries) => queue.retry(deliveries, 0));
  const stop = new AbortController();
  const faulty = { ...database, ...faults };
  const log = openLog("silent");
  const receiver = createReceiver({
    queue: { ...queue, receive, retry },
    database: faulty,
    intake: openIntake(faulty, pounds, new Registry(), log),
    log,
    limits: {
      batchSize: 10,
      concurrency: 1,
      waitMs: 1000,
      retryDelayMs: 100,
      retryDelayMaxMs: 350,
      attemptDelayMs: 10,
      ...limits,
    },
  });
  const running = receiver.run(stop.signal);
  return {
    receiver,
    receive,
    retry,
    receivedCount: async () => {
      const batches = receive.mock.results.map(({ value }) => value as Promise<ReceivedMessage[]>);
      return (await Promise.all(batches)).flat().length;
    },
    send: (...ids: string[]) =>
      queue.send(ids.map((id) => JSON.stringify(message({ resource_external_id: id })))),
    sendText: (...bodies: string[]) => queue.send(bodies),
    stored: async () => {
      const rows = await database.query<{ id: string }>(
        "select resource_external_id as id from event order by id",
      );
      return rows.map(({ id }) => id);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      await queue[Symbol.asyncDispose]();
    },
  };
}

/** Fails the first transactions, each with the next of these errors. One with null succeeds. */
function failing(...errors: (Error | null)[]): Pick<Database, "transaction"> {
  return {
    transaction: async (work) => {
      const error = errors.shift();
      if (error) throw error;
      return database.transaction(work);
    },
  };
}

/** Calls `look` with the values of each statement of each transaction, before it runs. */
const lookingAt = (look: (values: unknown[] | undefined) => void): Pick<Database, "transaction"> => ({
  transaction: (work) =>
    database.transaction((sql) =>
      work({
        ...sql,
        query: async (text, values, plan) => {
          look(values);
          return sql.query(text, values, plan);
        },
      }),
    ),
});

const idsIn = (deliveries: ReceivedMessage[]) =>
  deliveries.map(({ body }) => JSON.parse(body).resource_external_id as string);

test("a message that fails is retried with a growing delay, up to the maximum", async () => {
  const faults = failing(...Array.from({ length: 3 }, () => new Error("planted")));
  await using receiver = await startReceiver({ faults });
  await receiver.send("grows");
  await eventually(async () => expect(await receiver.stored()).toContain("grows"));
  expect(receiver.retry.mock.calls.map(([, retryDelayMs]) => retryDelayMs)).toEqual([100, 200, 350]);
});

test("no message is received while the database is unavailable", async () => {
  const receivedAtChecks: number[] = [];
  const check = async () => {
    receivedAtChecks.push(receiver.receive.mock.calls.length);
    if (receivedAtChecks.length < 3) throw unavailable;
  };
  await using receiver = await startReceiver({ faults: { ...failing(unavailable), check } });
  await receiver.send("waits");
  await eventually(async () => expect(await receiver.stored()).toContain("waits"));
  const [first] = receivedAtChecks;
  expect(receivedAtChecks).toEqual([first, first, first]);
  expect(receiver.receive.mock.calls.length).toBeGreaterThan(first as number);
  expect(receiver.retry).toHaveBeenCalledTimes(1);
});

test("messages that are not stored are retried if the database becomes unavailable during a batch", async () => {
  await using receiver = await startReceiver({
    faults: failing(new Error("one of them"), null, unavailable, unavailable),
  });
  const ids = ["middle1", "middle2", "middle3", "middle4"];
  await receiver.send(...ids);
  await eventually(async () => expect(await receiver.stored()).toEqual(expect.arrayContaining(ids)));
  expect(receiver.retry.mock.calls.map(([deliveries]) => idsIn(deliveries))).toEqual([
    ["middle2"],
    ["middle3", "middle4"],
  ]);
});

test.each([
  ["the database is unavailable", unavailable],
  ["the database rejects every message", new Error("permission denied")],
])("while %s, one message at a time is tried", async (name, error) => {
  let isHealed = false;
  const check = vi.fn<Database["check"]>().mockResolvedValue();
  const faults: Partial<Database> = {
    check,
    transaction: async (work) => {
      if (!isHealed) throw error;
      return database.transaction(work);
    },
  };
  const [batchSize, concurrency, retryDelayMs] = [10, 3, 1];
  await using receiver = await startReceiver({ faults, limits: { batchSize, concurrency, retryDelayMs } });
  expect(receiver.receiver.failingForMs()).toBe(0);
  const ids = Array.from({ length: 100 }, (_, index) => `${name} ${index}`);
  await receiver.send(...ids);
  await eventually(() => expect(check.mock.calls.length).toBeGreaterThanOrEqual(3));
  expect(await receiver.receivedCount()).toBeLessThanOrEqual(
    batchSize * concurrency + check.mock.calls.length,
  );
  expect(receiver.receiver.failingForMs()).toBeGreaterThan(0);
  isHealed = true;
  await eventually(async () => expect(await receiver.stored()).toEqual(expect.arrayContaining(ids)));
  expect(receiver.receiver.failingForMs()).toBe(0);
});

test("a message that makes every batch fail is tried alone", async () => {
  const faults = lookingAt((values) => {
    if (JSON.stringify(values).includes("culprit")) throw unavailable;
  });
  await using receiver = await startReceiver({ faults });
  await receiver.send("other1", "other2", "culprit", "other3", "other4");
  const others = ["other1", "other2", "other3", "other4"];
  await eventually(async () => expect(await receiver.stored()).toEqual(expect.arrayContaining(others)));
  expect(await receiver.stored()).not.toContain("culprit");
});

test("a failed retry of one message does not prevent the retry of another one in the batch", async () => {
  // Different numbers of attempts have different retry delays, and so different calls of `retry`.
  const withAttempts = (deliveries: ReceivedMessage[]) =>
    deliveries.map((delivery, index) => ({ ...delivery, attempt: index + 1 }));
  await using receiver = await startReceiver({ faults: failing(unavailable), transform: withAttempts });
  receiver.retry.mockRejectedValueOnce(new Error("planted"));
  await receiver.send("first", "second");
  await eventually(async () => expect(await receiver.stored()).toContain("second"));
});

test("large messages are committed a few at a time, and small ones between them need no more transactions", async () => {
  const mebibyte = 2 ** 20;
  const sizes: number[] = [];
  const faults: Partial<Database> = {
    transaction: (work) => {
      let size = 0;
      const measured = lookingAt((values = []) => {
        size = Math.max(size, ...values.map((value) => Buffer.byteLength(String(value))));
      });
      return measured.transaction(work).finally(() => sizes.push(size));
    },
  };
  await using receiver = await startReceiver({ faults, limits: { batchSize: 100 } });
  const bodies = Array.from({ length: 18 }, (_, index) => {
    const event_details = index % 3 === 0 ? { note: "x".repeat(900_000) } : {};
    return JSON.stringify(message({ resource_external_id: `large${index}`, event_details }));
  });
  await receiver.sendText(...bodies);
  const count = async () => (await receiver.stored()).filter((id) => id.startsWith("large")).length;
  await eventually(async () => expect(await count()).toBe(18));
  expect(Math.max(...sizes)).toBeLessThan(2 * mebibyte);
  expect(sizes.length).toBeLessThanOrEqual(7);
});

test("the number of batches in flight and their size are limited", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const faults: Partial<Database> = {
    transaction: async (work) => {
      await released;
      return database.transaction(work);
    },
  };
  await using receiver = await startReceiver({ faults, limits: { concurrency: 3, batchSize: 2 } });
  await receiver.send(...Array.from({ length: 9 }, (_, index) => `many${index}`));
  await eventually(async () => expect(await receiver.receivedCount()).toBe(6));
  expect(receiver.receive).toHaveBeenCalledTimes(3);
  release();
  await eventually(async () =>
    expect((await receiver.stored()).filter((id) => id.startsWith("many"))).toHaveLength(9),
  );
});

test("a stop does not wait for the end of a delay", async () => {
  const check = vi.fn<Database["check"]>().mockRejectedValue(unavailable);
  const faults = { ...failing(unavailable), check };
  await using receiver = await startReceiver({ faults, limits: { attemptDelayMs: 3_600_000 } });
  await receiver.send("never");
  await eventually(() => expect(check).toHaveBeenCalled());
});

test("a message in gzip is stored, and a dead letter has the content without the encoding", async () => {
  const event = JSON.stringify(message({ resource_external_id: "zipped" }));
  const contents = [gzipSync(event), gzipSync("{}"), Buffer.from("{}")];
  await using started = await startReceiver({
    transform: (deliveries) =>
      deliveries.map(({ body, ...delivery }) => ({
        ...delivery,
        body: "",
        bytes: contents[Number(body)] as Buffer,
        size: 1000,
        contentEncoding: "gzip",
      })),
  });
  await started.sendText("0", "1", "2");
  const reasons = () =>
    database.query(`select convert_from(body, 'UTF8') as body, reason from dead_letter order by reason`);
  await eventually(async () =>
    expect(await reasons()).toEqual([
      { body: "{}", reason: expect.stringContaining("event_type is required") },
      { body: "{}", reason: "the message is not valid gzip" },
    ]),
  );
  expect(await started.stored()).toContain("zipped");
});
