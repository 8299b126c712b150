import { adapterUrl, flag, host, port } from "../service/settings.ts";
import { databases } from "./database/database.ts";
import { queues } from "./queue/queue.ts";

export const settings = {
  HOST: host,
  LEDGER_PORT: port(8081),
  DATABASE_URL: adapterUrl(databases, "pglite:./data/ledger"),
  QUEUE_URL: adapterUrl(queues, "sqs+embedded:./data/queue"),
  QUEUE_RECEIVER_BACKGROUND_PROCESSING: flag(true),
};
