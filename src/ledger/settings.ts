import { databases, replicas } from "../database/databases.ts";
import { claimName } from "../http/access/authentication.ts";
import {
  adapterUrl,
  count,
  filePath,
  flag,
  host,
  milliseconds,
  optional,
  port,
  reading,
  type Settings,
  uriReference,
} from "../process/settings.ts";
import { intervalOf } from "../values/age.ts";
import { currencyOf } from "../values/currency.ts";
import type { ReceiverLimits } from "./intake/receiver.ts";
import { targetUrls } from "./publishing/targets.ts";
import { queues } from "./queue/queues.ts";
import { witnessUrls } from "./transparency/witness.ts";

export const settings = {
  HOST: host,
  LEDGER_PORT: port(8081),
  SHARE_PORT: flag(false),
  DATABASE_URL: adapterUrl(databases, "pglite:./data/ledger"),
  DATABASE_READ_URL: optional(adapterUrl(replicas)),
  CURRENCY: optional(reading("a currency of ISO 4217, such as GBP", currencyOf)),
  STATEMENT_TIMEOUT_MS: milliseconds(10_000),
  EVENT_WRITES: flag(false),
  AUDIT_KEEP: reading("a time such as 13mo, 7y or 90d", intervalOf, "13mo"),
  QUEUE_URL: adapterUrl(queues, "sqs+embedded:./data/queue"),
  QUEUE_RECEIVER_BACKGROUND_PROCESSING: flag(true),
  QUEUE_RECEIVER_BATCH_SIZE: count(400, 1000),
  QUEUE_RECEIVER_CONCURRENCY: count(4, 100),
  QUEUE_RECEIVER_WAIT_MS: milliseconds(20_000),
  QUEUE_RECEIVER_RETRY_DELAY_MS: milliseconds(1000),
  QUEUE_RECEIVER_RETRY_DELAY_MAX_MS: milliseconds(15 * 60 * 1000),
  PUBLISH_URL: targetUrls,
  PUBLISH_SOURCE: optional(uriReference),
  TLOG_KEY_FILE: optional(filePath()),
  TLOG_PUBLIC: flag(false),
  TLOG_WITNESSES: witnessUrls,
  AUTH_ACCOUNTS_CLAIM: claimName("accounts"),
};

export const receiverLimits = (given: Settings<typeof settings>): ReceiverLimits => ({
  batchSize: given.QUEUE_RECEIVER_BATCH_SIZE,
  concurrency: given.QUEUE_RECEIVER_CONCURRENCY,
  waitMs: given.QUEUE_RECEIVER_WAIT_MS,
  retryDelayMs: given.QUEUE_RECEIVER_RETRY_DELAY_MS,
  retryDelayMaxMs: given.QUEUE_RECEIVER_RETRY_DELAY_MAX_MS,
});
