import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Database, DatabaseUnavailable } from "../../database/database.ts";
import type { Logger } from "../../process/log.ts";
import { type Outage, watchOutage } from "../../process/outage.ts";
import { type FeedPosition, feedStart, newestInFeed } from "../tables/feed/feed.ts";
import {
  arrangeDeferred,
  claimPublication,
  ownedSeconds,
  PublicationLost,
  releasePublication,
  renewPublication,
} from "../tables/feed/publication.ts";
import type { Publisher } from "./body.ts";
import { openPublishingLog } from "./publishing-log.ts";
import { openSession, type SessionPace } from "./session.ts";
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
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];
const usualPace: SessionPace & { renewEveryMs: number } = {
  awayDelayMs: second,
  idleDelayMs: 200,
  deferredEveryMs: second,
  /** How often the ownership is renewed, and claimed by other processes. */
  renewEveryMs: (ownedSeconds * second) / 4,
};
/** The delay after a failure of the database. */
const failureDelayMs = second;

interface Parts {
  database: Database;
  setting: TargetSetting;
  publisher: Publisher;
  log: Logger;
  /** Default: those of Standard Webhooks. */
  delaysMs?: number[];
  /** Tests set a faster one. */
  pace?: typeof usualPace;
}

/**
 * Publishes the events of the feed to a target until it is disposed, at least once, in order per resource. Of several
 * processes one publishes; another one takes over within 10 seconds after its end. An event that the target rejects waits
 * for further attempts with the later ones of its resource, and becomes a dead letter after the last one. While the target
 * takes nothing or limits what it takes, events wait and no attempt counts.
 */
export function startPublishing({
  database,
  setting,
  publisher,
  log,
  delaysMs = standardDelaysMs,
  pace = usualPace,
}: Parts): AsyncDisposable {
  const { name } = setting;
  const { renewEveryMs } = pace;
  /** The name of this process as the owner, a new one whenever it becomes that: nothing that it began before counts then. */
  let owner = randomUUID();
  const stop = new AbortController();
  const shownName = shownTargetName(name);
  const fields = { target: shownName };
  const failing = watchOutage(log);
  const publishingLog = openPublishingLog(log, shownName);
  let target: Target | undefined;
  let start: FeedPosition | undefined;

  /** Becomes the owner, if there is none. Resolves with the position of the publication then. */
  async function claim(): Promise<FeedPosition | undefined> {
    start ??= setting.from === "beginning" ? feedStart : await newestInFeed(database);
    const previous = owner;
    owner = randomUUID();
    const recorded = await claimPublication(database, name, { owner, previous }, start);
    if (!recorded) return undefined;
    await arrangeDeferred(database, name);
    return newestInFeed(database, recorded);
  }

  /** Publishes as long as this process is the owner. The ownership is renewed meanwhile. */
  async function publish(position: FeedPosition): Promise<void> {
    target ??= await openTarget(setting.url, (text) => log.warn(fields, text));
    const lost = new AbortController();
    const record = async () => {
      const isOwner = await renewPublication(database, name, owner, session.state());
      if (!isOwner) lost.abort();
    };
    const session = openSession({
      ...{ database, target, setting, publisher, owner, position, delaysMs, pace, record },
      log: publishingLog,
    });
    // Until another process is the owner, nothing is lost.
    const renewal = setInterval(() => record().catch(() => {}), renewEveryMs);
    try {
      await session.run(AbortSignal.any([stop.signal, lost.signal]));
    } finally {
      clearInterval(renewal);
    }
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        const position = await claim();
        failing.succeeded();
        if (position) await publish(position);
        else await pause(renewEveryMs, stop.signal);
      } catch (err) {
        report(err, failing);
        await pause(failureDelayMs, stop.signal);
      }
    }
    await target?.[Symbol.asyncDispose]();
    await releasePublication(database, name, owner).catch(() => {});
  }

  function report(err: unknown, outage: Outage): void {
    if (err instanceof PublicationLost) return;
    const problem = "events could not be published";
    if (err instanceof DatabaseUnavailable) outage.failed(problem, { ...fields, err });
    else log.error({ ...fields, err }, problem);
  }

  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

const pause = (milliseconds: number, signal: AbortSignal) =>
  sleep(milliseconds, undefined, { signal }).catch(() => {});
