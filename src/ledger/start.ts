import { Registry } from "prom-client";
import { openDatabase, openReplica } from "../database/databases.ts";
import { withoutCredentials } from "../engines/url.ts";
import { listen } from "../http/listen.ts";
import type { HttpOptions } from "../http/options.ts";
import { openWhenFree } from "../process/folder-lock.ts";
import type { Logger } from "../process/log.ts";
import type { Settings } from "../process/settings.ts";
import { untilStopped } from "../process/stop.ts";
import { type Recorder, startKeepingRecords } from "./access/recorder.ts";
import { ledgerApp } from "./app.ts";
import { knownTimes } from "./intake/freshness.ts";
import { openIntake } from "./intake/intake.ts";
import { startSavingIntakeMinutes } from "./intake/intake-minutes.ts";
import { startMergingSummaries } from "./intake/merge-summaries.ts";
import { createReceiver } from "./intake/receiver.ts";
import { shareNews } from "./intake/share-news.ts";
import { defaultSource } from "./publishing/body.ts";
import { startPublishing } from "./publishing/publisher.ts";
import type { SessionOptions } from "./publishing/session.ts";
import { shownTargetName } from "./publishing/target-name.ts";
import { openQueue } from "./queue/queues.ts";
import { receiverLimits, settings } from "./settings.ts";
import { continueFeed } from "./tables/feed/feed.ts";
import { cursorKeyOf, decideCurrency, ledgerIdOf } from "./tables/identity.ts";
import { migrate } from "./tables/migrate.ts";
import { logKeyOf } from "./transparency/key.ts";
import { startSealing } from "./transparency/sealing.ts";

export { settings };

/** Runs the API and, unless it is switched off, the receiver until `stop` aborts. Then closes everything in reverse order. */
export async function start(
  given: Settings<typeof settings>,
  http: HttpOptions & { accessLog: Recorder | undefined },
  log: Logger,
  stop: AbortSignal,
): Promise<void> {
  // First, so that producers need not wait for the database.
  const warn = (text: string) => log.warn(text);
  await using queue = await openWhenFree(() => openQueue(given.QUEUE_URL, warn), log);
  log.info(`opening the database ${withoutCredentials(given.DATABASE_URL)}`);
  await using database = await openWhenFree(() => openDatabase(given.DATABASE_URL, warn), log);
  const isNew = await migrate(database, log);
  await continueFeed(database);
  const ledgerId = await ledgerIdOf(database);
  const currency = await decideCurrency(database, given.CURRENCY);
  await using _merging = startMergingSummaries(database, log);
  await using _keeping = startKeepingRecords(database, given.AUDIT_KEEP, log);
  await using _savingAccesses = await http.accessLog?.open(database);
  await using replica = given.DATABASE_READ_URL
    ? await openReplica(given.DATABASE_READ_URL, warn)
    : undefined;
  const metrics = new Registry();
  const intake = openIntake(database, currency, metrics, log, replica);
  await using shared = shareNews(database, intake.news);
  await using _saving = startSavingIntakeMinutes(database, intake, log);
  const receiver = given.QUEUE_RECEIVER_BACKGROUND_PROCESSING
    ? createReceiver({ queue, database, intake, log, limits: receiverLimits(given) })
    : undefined;
  const targets = given.QUEUE_RECEIVER_BACKGROUND_PROCESSING ? given.PUBLISH_URL : [];
  await using publishing = new AsyncDisposableStack();
  const origin = { ledgerId, source: given.PUBLISH_SOURCE ?? defaultSource(ledgerId) };
  for (const setting of targets) {
    const destination = `target ${shownTargetName(setting.name)}`;
    const arrived: SessionOptions["arrived"] = (acceptedAt) =>
      intake.freshness.arrived([destination], knownTimes(acceptedAt));
    publishing.use(startPublishing({ database, setting, origin, log, news: shared.news, arrived }));
  }
  const signer = receiver && logKeyOf(given, ledgerId);
  const isBusy = () => (receiver?.oldestInFlightMs() ?? 0) > 0 || http.accessLog?.isBusy() === true;
  await using sealing =
    signer && startSealing({ database, signer, witnesses: given.TLOG_WITNESSES, isBusy, log });
  const names = targets.map(({ name }) => name);
  await using app = await ledgerApp({
    ledgerId,
    currency,
    cursorKey: await cursorKeyOf(database),
    database,
    replica,
    queue,
    receiver,
    targets: names,
    sealing,
    publishesLog: given.TLOG_PUBLIC,
    news: shared.news,
    intake: given.EVENT_WRITES ? intake : undefined,
    statementTimeoutMs: given.STATEMENT_TIMEOUT_MS,
    accountsClaim: given.AUTH_ACCOUNTS_CLAIM,
    log,
    metrics,
    ...http,
  });
  const port = { portSetting: "LEDGER_PORT", port: given.LEDGER_PORT, isShared: given.SHARE_PORT };
  const url = await listen(app, { host: given.HOST, ...port });
  log.info(
    {
      docs: `${url}/docs`,
      console: `${url}/console`,
      queue: queue.address?.url,
      database: withoutCredentials(given.DATABASE_URL),
      ...(names.length > 0 && { targets: names.map(shownTargetName) }),
    },
    `Server listening at ${url}`,
  );
  if (isNew && given.DATABASE_URL.startsWith("pglite:")) {
    log.info("this ledger is new; to fill it: npm run demo");
  }
  await (receiver?.run(stop) ?? untilStopped(stop));
}
