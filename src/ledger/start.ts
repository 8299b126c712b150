import { Registry } from "prom-client";
import type { Security } from "../http/security.ts";
import type { Logger } from "../process/log.ts";
import type { Settings } from "../process/settings.ts";
import { untilStopped } from "../process/stop.ts";
import { ledgerApp } from "./app.ts";
import { openDatabase } from "./database/database.ts";
import { createReceiver } from "./intake/receiver.ts";
import { openQueue } from "./queue/queue.ts";
import { receiverLimits, settings } from "./settings.ts";
import { migrate } from "./tables/migrate.ts";

export { settings };

/** Runs the API and, unless it is switched off, the receiver until `stop` aborts. Then closes everything in reverse order. */
export async function start(
  given: Settings<typeof settings>,
  security: Security | undefined,
  log: Logger,
  stop: AbortSignal,
): Promise<void> {
  await using database = await openDatabase(given.DATABASE_URL);
  await migrate(database, log);
  await using replica = given.DATABASE_READ_URL ? await openDatabase(given.DATABASE_READ_URL) : undefined;
  await using queue = await openQueue(given.QUEUE_URL, (warning) => log.warn(warning));
  const metrics = new Registry();
  const receiver = given.QUEUE_RECEIVER_BACKGROUND_PROCESSING
    ? createReceiver({ queue, database, metrics, log, limits: receiverLimits(given) })
    : undefined;
  const statementTimeoutMs = given.STATEMENT_TIMEOUT_MS;
  const parts = { database, replica, queue, receiver, statementTimeoutMs, security, log, metrics };
  await using app = await ledgerApp(parts);
  log.info(`Server listening at ${await app.listen({ host: given.HOST, port: given.LEDGER_PORT })}`);
  await (receiver?.run(stop) ?? untilStopped(stop));
}
