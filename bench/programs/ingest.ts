import { Registry } from "prom-client";
import { openDatabase } from "../../src/database/databases.ts";
import { openIntake } from "../../src/ledger/intake/intake.ts";
import { startMergingSummaries } from "../../src/ledger/intake/merge-summaries.ts";
import { createReceiver } from "../../src/ledger/intake/receiver.ts";
import { shareNews } from "../../src/ledger/intake/share-news.ts";
import type { Queue } from "../../src/ledger/queue/queue.ts";
import { openQueue } from "../../src/ledger/queue/queues.ts";
import { receiverLimits, settings } from "../../src/ledger/settings.ts";
import { migrate } from "../../src/ledger/tables/migrate.ts";
import { countTransactions } from "../../src/ledger/tables/search/search.ts";
import { openLog } from "../../src/process/log.ts";
import { readSettings } from "../../src/process/settings.ts";
import { pounds } from "../../src/values/currency.ts";
import { handleCalls } from "../handle-calls.ts";
import { messagesOf, type Workload } from "../payments.ts";

/**
 * The receiver of the ledger. The messages are in the queue before the measurement, which ends when all are acknowledged.
 * Returns events per second.
 */
const values = readSettings(process.env, settings);
const log = openLog("warn", process.stderr);
const database = await openDatabase(values.DATABASE_URL);
await migrate(database);
startMergingSummaries(database, log);

/** Resolves when all messages are acknowledged, which is after their commit. */
async function receive(queue: Queue, events: number): Promise<void> {
  const { promise: allAcknowledged, resolve, reject } = Promise.withResolvers<void>();
  let left = events;
  const countingQueue: Queue = {
    ...queue,
    async acknowledge(deliveries) {
      await queue.acknowledge(deliveries);
      left -= deliveries.length;
      if (left === 0) resolve();
    },
    retry: async () => reject(new Error("a message failed")),
  };
  const intake = openIntake(database, pounds, new Registry(), log);
  await using _news = shareNews(database, intake.news);
  const parts = {
    queue: countingQueue,
    database,
    intake,
    log,
    limits: receiverLimits(values),
  };
  const stop = new AbortController();
  const running = createReceiver(parts).run(stop.signal);
  try {
    await allAcknowledged;
  } finally {
    stop.abort();
    await running;
  }
}

handleCalls(async (workload: Workload) => {
  await using queue = await openQueue(values.QUEUE_URL);
  const messages = messagesOf(workload);
  await queue.send(messages);
  const before = await countTransactions(database, {});
  const start = performance.now();
  await receive(queue, messages.length);
  const seconds = (performance.now() - start) / 1000;
  const added = (await countTransactions(database, {})) - before;
  if (added !== workload.payments)
    throw new Error(`${workload.payments} payments became ${added} transactions`);
  return messages.length / seconds;
});
