import { randomUUID } from "node:crypto";
import { type Database, DatabaseUnavailable } from "../../database/database.ts";
import type { Logger } from "../../process/log.ts";
import { watchOutage } from "../../process/outage.ts";
import { type News, openNews } from "../../waiting/news.ts";
import { repeat } from "../../waiting/repeat.ts";
import { arrangeDeferred } from "../tables/feed/deferred-delivery.ts";
import { type FeedPosition, feedStart, newestInFeed } from "../tables/feed/feed.ts";
import {
  claimPublication,
  ownedSeconds,
  PublicationLost,
  releasePublication,
  renewPublication,
} from "../tables/feed/publication.ts";
import type { Origin } from "./body.ts";
import { openPublishingLog, type PublishingLog } from "./publishing-log.ts";
import { type Intervals, openSession, type SessionOptions, stateOf } from "./session.ts";
import { runSession } from "./session-loop.ts";
import type { Target } from "./target.ts";
import { shownTargetName } from "./target-name.ts";
import { openTarget, type TargetSetting } from "./targets.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
/** The delays after the attempts for an event, as Standard Webhooks recommends. The last of ten attempts has none. */
export const standardDelaysMs = [
  5 * second,
  5 * minute,
  30 * minute,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour),
];
const usualIntervals = {
  awayDelayMs: second,
  idleDelayMs: 200,
  deferredEveryMs: second,
  /** How often the ownership is renewed, and claimed by other processes. */
  renewEveryMs: (ownedSeconds * second) / 4,
};
/** The delay after a failure of the database. */
const failureDelayMs = second;

interface PublisherOptions {
  database: Database;
  setting: TargetSetting;
  origin: Origin;
  log: Logger;
  /** News of events that were stored. Default: they are found at the end of the idle delay. */
  news?: News;
  /** Default: the delays of Standard Webhooks. */
  delaysMs?: number[];
  /** Tests set shorter ones. */
  intervals?: Intervals & { renewEveryMs: number };
  /** Default: nothing is measured. */
  arrived?: SessionOptions["arrived"];
}

/** What a process keeps of a target from one session to the next. */
interface Publishing extends Required<PublisherOptions> {
  publishingLog: PublishingLog;
  /** The name of this process as the owner, a new one whenever it becomes that: nothing that it began before counts then. */
  owner: string;
  /** Where the publication begins if it does not exist; undefined until it is known. */
  start: FeedPosition | undefined;
  target: Target | undefined;
}

/**
 * Publishes the events of the feed to a target until it is disposed, at least once, in order per resource. Of several
 * processes one publishes; another one takes over within 10 seconds after its end. An event that the target rejects waits
 * for further attempts with the later ones of its resource, and becomes a dead letter after the last one. While the target
 * takes nothing or limits what it takes, events wait and no attempt counts.
 */
export function startPublishing({
  delaysMs = standardDelaysMs,
  intervals = usualIntervals,
  news = openNews(),
  arrived = () => {},
  ...options
}: PublisherOptions): AsyncDisposable {
  const { database, setting, log } = options;
  const outage = watchOutage(log);
  const target = shownTargetName(setting.name);
  const publishing: Publishing = {
    ...{ ...options, delaysMs, intervals, news, arrived, publishingLog: openPublishingLog(log, target) },
    ...{ owner: randomUUID(), start: undefined, target: undefined },
  };
  const running = repeat(async (stop) => {
    try {
      const position = await claim(publishing);
      outage.succeeded();
      if (!position) return intervals.renewEveryMs;
      await publish(publishing, position, stop);
      return 0;
    } catch (err) {
      const problem = "events could not be published";
      if (err instanceof DatabaseUnavailable) outage.failed(problem, { target, err });
      else if (!(err instanceof PublicationLost)) log.error({ target, err }, problem);
      return failureDelayMs;
    }
  });
  return {
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      await publishing.target?.[Symbol.asyncDispose]();
      await releasePublication(database, setting.name, publishing.owner).catch(() => {});
    },
  };
}

/** Becomes the owner, if there is none. Resolves with the position of the publication then. */
async function claim(publishing: Publishing): Promise<FeedPosition | undefined> {
  const { database, setting, owner: previous } = publishing;
  publishing.start ??= setting.from === "beginning" ? feedStart : await newestInFeed(database);
  publishing.owner = randomUUID();
  const owners = { owner: publishing.owner, previous };
  const recorded = await claimPublication(database, setting.name, owners, publishing.start);
  if (!recorded) return undefined;
  await arrangeDeferred(database, setting.name);
  return newestInFeed(database, recorded);
}

/** Publishes as long as this process is the owner. The ownership is renewed meanwhile. */
async function publish(publishing: Publishing, position: FeedPosition, stop: AbortSignal): Promise<void> {
  const { database, setting, owner, intervals, publishingLog, log } = publishing;
  const { name, url } = setting;
  publishing.target ??= await openTarget(url, (text) => log.warn({ target: shownTargetName(name) }, text));
  const { target } = publishing;
  const lost = new AbortController();
  const record = async () => {
    const isOwner = await renewPublication(database, name, owner, stateOf(session));
    if (!isOwner) lost.abort();
  };
  const session = openSession({ ...publishing, target, position, record, log: publishingLog });
  // Until another process is the owner, nothing is lost.
  const renewal = setInterval(() => record().catch(() => {}), intervals.renewEveryMs);
  try {
    await runSession(session, AbortSignal.any([stop, lost.signal]));
  } finally {
    clearInterval(renewal);
  }
}
