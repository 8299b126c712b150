import { adapterUrl, flag, host, milliseconds, port } from "../service/settings.ts";
import { databases } from "./database/database.ts";
import { queues } from "./queue/queue.ts";

export const settings = {
  HOST: host,
  LEDGER_PORT: port(8081),
  DATABASE_URL: adapterUrl(databases, "pglite:./data/ledger"),
  STATEMENT_TIMEOUT_MS: milliseconds(10_000),
  QUEUE_URL: adapterUrl(queues, "sqs+embedded:./data/queue"),
  QUEUE_RECEIVER_BACKGROUND_PROCESSING: flag(true),
};
