import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { eventually } from "../../service/eventually.fixture.ts";
import { openLog } from "../../service/log.ts";
import { type Database, DatabaseUnavailable } from "../database/database.ts";
import { openNewDatabase } from "../database/new-database.fixture.ts";
import { message } from "../ledger.fixture.ts";
import { type Delivery, openQueue, type Queue } from "../queue/queue.ts";
import { migrate } from "../tables/migrate.ts";
import { createReceiver } from "./receiver.ts";

let database: Database;
beforeAll(async () => {
  database = await openNewDatabase();
  await migrate(database);
});
afterAll(() => database[Symbol.asyncDispose]());

const away = new DatabaseUnavailable("it is away");

/** A receiver at work, on a queue in memory and a database, both of which a test can have trouble with. */
async function startReceiver({
  trouble = {} as Partial<Database>,
  limits = {},
  arrived = (deliveries: Delivery[]) => deliveries,
} = {}) {
  const queue = await openQueue("memory:");
  const receive = vi.fn<Queue["receive"]>(async (...asked) => arrived(await queue.receive(...asked)));
  const putBack = vi.fn<Queue["putBack"]>((deliveries) => queue.putBack(deliveries, 0));
  const stop = new AbortController();
  const running = createReceiver({
    queue: { ...queue, receive, putBack },
    database: { ...database, ...trouble },
    metrics: new Registry(),
    log: openLog("silent"),
    limits: { batchSize: 10, concurrency: 1, waitMs: 1000, pauseMs: 100, pauseMaxMs: 350, ...limits },
  }).run(stop.signal);
  return {
    receive,
    putBack,
    send: (...ids: string[]) =>
      queue.send(ids.map((id) => JSON.stringify(message({ resource_external_id: id })))),
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

/** Fails the first transactions, each with the next of these errors; null lets one through. */
function failing(...errors: (Error | null)[]): Pick<Database, "transaction"> {
  return {
    transaction: async (work) => {
      const error = errors.shift();
      if (error) throw error;
      return database.transaction(work);
    },
  };
}

const idsIn = (deliveries: Delivery[]) =>
  deliveries.map(({ body }) => JSON.parse(body).resource_external_id as string);

test("a message that fails comes again after pauses that grow, up to the longest", async () => {
  // In its batch, and by itself.
  const trouble = failing(...Array.from({ length: 2 * 3 }, () => new Error("today it does not work")));
  await using receiver = await startReceiver({ trouble });
  await receiver.send("grows");
  await eventually(async () => expect(await receiver.stored()).toContain("grows"));
  expect(receiver.putBack.mock.calls.map(([, pauseMs]) => pauseMs)).toEqual([100, 200, 350]);
});

test("nothing is taken while the database is away", async () => {
  const check = vi.fn<Database["check"]>().mockRejectedValueOnce(away).mockResolvedValue();
  await using receiver = await startReceiver({ trouble: { ...failing(away), check } });
  await receiver.send("waits");
  await eventually(() => expect(check).toHaveBeenCalledTimes(1));
  const taken = receiver.receive.mock.calls.length;
  expect(receiver.putBack).toHaveBeenCalledTimes(1);
  await eventually(async () => expect(await receiver.stored()).toContain("waits"));
  expect(check).toHaveBeenCalledTimes(2);
  expect(receiver.receive.mock.calls.length).toBeGreaterThan(taken);
});

test("when the database goes away in the middle of a batch, what is stored is not put back", async () => {
  await using receiver = await startReceiver({ trouble: failing(new Error("one of them"), null, away) });
  await receiver.send("middle1", "middle2", "middle3");
  await eventually(async () =>
    expect(await receiver.stored()).toEqual(expect.arrayContaining(["middle1", "middle2", "middle3"])),
  );
  expect(receiver.putBack.mock.calls.map(([deliveries]) => idsIn(deliveries))).toEqual([
    ["middle2", "middle3"],
  ]);
});

test("what cannot be put back keeps nothing else of its batch from it", async () => {
  // Of one batch, but not of one age, so that they get different pauses.
  const aged = (deliveries: Delivery[]) =>
    deliveries.map((delivery, index) => ({ ...delivery, attempt: index + 1 }));
  await using receiver = await startReceiver({ trouble: failing(away), arrived: aged });
  receiver.putBack.mockRejectedValueOnce(new Error("there is no such pause"));
  await receiver.send("first", "second");
  await eventually(async () => expect(await receiver.stored()).toContain("second"));
});

test("as many batches are in hand as it is told, of the size it is told", async () => {
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const trouble: Partial<Database> = {
    transaction: async (work) => {
      await enough;
      return database.transaction(work);
    },
  };
  await using receiver = await startReceiver({ trouble, limits: { concurrency: 3, batchSize: 2 } });
  await receiver.send(...Array.from({ length: 9 }, (_, index) => `many${index}`));
  await eventually(async () => {
    const taken = await Promise.all(
      receiver.receive.mock.results.map(({ value }) => value as Promise<Delivery[]>),
    );
    expect(taken.map((batch) => batch.length)).toEqual([2, 2, 2]);
  });
  resolve();
  await eventually(async () =>
    expect((await receiver.stored()).filter((id) => id.startsWith("many"))).toHaveLength(9),
  );
});

test("a stop does not wait for a pause to be over", async () => {
  let begun = 0;
  {
    const check = vi.fn<Database["check"]>().mockRejectedValue(away);
    await using receiver = await startReceiver({ trouble: { ...failing(away), check } });
    await receiver.send("never");
    await eventually(() => expect(receiver.putBack).toHaveBeenCalled());
    begun = performance.now();
  }
  expect(performance.now() - begun).toBeLessThan(900);
});
