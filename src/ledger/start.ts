import type { Logger } from "../service/log.ts";
import type { Security } from "../service/security.ts";
import type { Settings } from "../service/settings.ts";
import { untilStopped } from "../service/stop.ts";
import { ledgerApp } from "./app.ts";
import { openDatabase } from "./database/database.ts";
import { receive } from "./intake/receiver.ts";
import { openQueue } from "./queue/queue.ts";
import { settings } from "./settings.ts";
import { migrate } from "./tables/migrate.ts";

export { settings };

/** Serves, and receives when it is told to, until `stop` aborts; closes in the reverse order of opening. */
export async function start(
  given: Settings<typeof settings>,
  security: Security | undefined,
  log: Logger,
  stop: AbortSignal,
): Promise<void> {
  await using database = await openDatabase(given.DATABASE_URL);
  await migrate(database);
  await using queue = await openQueue(given.QUEUE_URL);
  const statementTimeoutMs = given.STATEMENT_TIMEOUT_MS;
  await using app = await ledgerApp({ database, queue, statementTimeoutMs, security, log });
  await app.listen({ host: given.HOST, port: given.LEDGER_PORT });
  if (given.QUEUE_RECEIVER_BACKGROUND_PROCESSING) await receive({ queue, database, log }, stop);
  else await untilStopped(stop);
}
