import { Registry } from "prom-client";
import { openDatabase } from "../../src/ledger/database/database.ts";
import { createReceiver } from "../../src/ledger/intake/receiver.ts";
import { openQueue, type Queue } from "../../src/ledger/queue/queue.ts";
import { receiverLimits, settings } from "../../src/ledger/settings.ts";
import { migrate } from "../../src/ledger/tables/migrate.ts";
import { countTransactions } from "../../src/ledger/tables/search.ts";
import { openLog } from "../../src/process/log.ts";
import { readSettings } from "../../src/process/settings.ts";
import { answer } from "../answer.ts";
import { type Intake, messagesOf } from "../payments.ts";

/** The ledger's intake, from messages that wait in the queue to all of them acknowledged; answers events a second. */
const given = readSettings(process.env, settings);
const log = openLog("warn", process.stderr);
const database = await openDatabase(given.DATABASE_URL);
await migrate(database);

/** Acknowledged is committed: when the last is, all can be seen. */
async function takeIn(queue: Queue, events: number): Promise<void> {
  const { promise: allAcknowledged, resolve, reject } = Promise.withResolvers<void>();
  let left = events;
  const counted: Queue = {
    ...queue,
    async acknowledge(deliveries) {
      await queue.acknowledge(deliveries);
      left -= deliveries.length;
      if (left === 0) resolve();
    },
    retry: async () => reject(new Error("a message failed")),
  };
  const parts = { queue: counted, database, metrics: new Registry(), log, limits: receiverLimits(given) };
  const stop = new AbortController();
  const running = createReceiver(parts).run(stop.signal);
  try {
    await allAcknowledged;
  } finally {
    stop.abort();
    await running;
  }
}

answer(async (intake: Intake) => {
  await using queue = await openQueue(given.QUEUE_URL);
  const messages = messagesOf(intake);
  await queue.send(messages);
  const before = await countTransactions(database, {});
  const begun = performance.now();
  await takeIn(queue, messages.length);
  const seconds = (performance.now() - begun) / 1000;
  const made = (await countTransactions(database, {})) - before;
  if (made !== intake.payments) throw new Error(`${intake.payments} payments became ${made} transactions`);
  return messages.length / seconds;
});
