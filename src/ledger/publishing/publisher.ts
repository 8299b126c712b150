import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Database, DatabaseUnavailable } from "../../database/database.ts";
import type { Logger } from "../../process/log.ts";
import { type Outage, watchOutage } from "../../process/outage.ts";
import { saveDeadLetters } from "../tables/dead-letter.ts";
import {
  type FeedPosition,
  type FeedRow,
  feedStart,
  newestInFeed,
  positionOf,
  readFeed,
} from "../tables/feed.ts";
import {
  claimPublication,
  countDeferred,
  type DeferredDelivery,
  deferDeliveries,
  deferredMax,
  dueDeliveries,
  movePublication,
  ownedSeconds,
  PublicationLost,
  releasePublication,
  removeDeferred,
  renewPublication,
  resourcesWithDeferred,
} from "../tables/publication.ts";
import { deliveryOf, keyOf, type Publisher } from "./body.ts";
import { type Failure, openTarget, type Target, type TargetSetting } from "./target.ts";

/** The delays before the attempts for an event that the target did not take, as Standard Webhooks recommends, and 30 seconds. */
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const rejectedDelaysMs = [
  5 * second,
  30 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];
const usualPace = {
  /** The first delay while the target takes nothing; it is doubled each time, up to a maximum. */
  awayDelayMs: second,
  /** The delay at the end of the feed. */
  idleDelayMs: 200,
  /** How often the ownership is renewed, and claimed by other processes. */
  renewEveryMs: (ownedSeconds * second) / 4,
  /** How often due deliveries are read. */
  deferredEveryMs: second,
};
const awayDelayMaxMs = 5 * minute;
/** The delay after a failure of the database. */
const failureDelayMs = second;

/** Limits of the events that are read and sent before the position moves. */
const page = { countMax: 200, bytesMax: 2 ** 20 };
/** The number of resources whose events are sent first to a target that took nothing before. */
const probeMax = 10;
/** The number of deferred events that are read at a time: each can have 1 MiB. */
const dueMax = 10;

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
 * takes nothing, everything waits.
 */
export function startPublishing({
  database,
  setting,
  publisher,
  log,
  delaysMs = rejectedDelaysMs,
  pace: { awayDelayMs, idleDelayMs, renewEveryMs, deferredEveryMs } = usualPace,
}: Parts): AsyncDisposable {
  const { name, format, resource_types } = setting;
  /** The name of this process as the owner, a new one whenever it becomes that: nothing that it began before counts then. */
  let owner = randomUUID();
  const stop = new AbortController();
  const fields = { target: name };
  const away = watchOutage(log);
  const failing = watchOutage(log);
  let target: Target | undefined;
  let start: FeedPosition | undefined;
  /** The position while this process is the owner. */
  let position: FeedPosition | undefined;
  let isUpToDate = false;
  /** Why the target takes nothing. */
  let problem: string | null = null;
  let attemptsAway = 0;
  /** The target has taken everything since it did not respond. So an event that it does not take now is at fault itself. */
  let isThere = false;
  let deferredAt = Number.NEGATIVE_INFINITY;
  let isFull = false;

  /** Becomes the owner, if there is none. */
  async function claim(): Promise<void> {
    start ??= setting.from === "beginning" ? feedStart : await newestInFeed(database);
    const previous = owner;
    owner = randomUUID();
    isUpToDate = false;
    position = await claimPublication(database, name, { owner, previous }, start);
  }

  /** Resolves with the delay before the next step. */
  async function step(signal: AbortSignal): Promise<number> {
    target ??= await openTarget(setting.url, (text) => log.warn(fields, text));
    let isRetried = false;
    if (attemptsAway === 0 && performance.now() - deferredAt >= deferredEveryMs) {
      isRetried = await retryDeferred(signal);
      await checkRoom();
      if (!isRetried) deferredAt = performance.now();
    }
    const isPublished = !isFull && (await publishNext(signal));
    // Nothing else would show that the target takes something again.
    if (attemptsAway > 0 && !isPublished && !(await retryDeferred(signal))) takesSomething();
    if (attemptsAway > 0) return Math.min(awayDelayMs * 2 ** (attemptsAway - 1), awayDelayMaxMs);
    return isRetried || isPublished ? 0 : idleDelayMs;
  }

  async function checkRoom(): Promise<void> {
    isFull = (await countDeferred(database, name)) >= deferredMax;
    if (isFull) isUpToDate = false;
  }

  function takesNothing(reason: string): void {
    attemptsAway += 1;
    isThere = false;
    problem = `The target takes nothing: ${reason}`;
    away.failed("the target of published events takes nothing; they wait", { ...fields, reason });
  }

  function takesSomething(): void {
    attemptsAway = 0;
    problem = null;
    away.succeeded();
  }

  /** Publishes a page of the feed. Resolves with true if there was one. */
  async function publishNext(signal: AbortSignal): Promise<boolean> {
    if (!position) return false;
    const { events, end, isLast } = await readFeed(database, { resource_types }, position, page);
    if (events.length > 0) isUpToDate = false;
    const blocked = new Set((await resourcesWithDeferred(database, name, events)).map(keyOf));
    const waiting = events.filter((event) => blocked.has(keyOf(event)));
    const { failed, isAway } = await sendInOrder(
      events.filter((event) => !blocked.has(keyOf(event))),
      signal,
    );
    if (signal.aborted) return false;
    if (isAway) {
      takesNothing(failed[0]?.failure.reason ?? "");
      return true;
    }
    const deferred = [
      ...failed.flatMap(({ failure, event, later }) => [
        deferredOf(event, 1, delaysMs[0] as number, failure.reason),
        ...later.map((one) => deferredOf(one)),
      ]),
      ...waiting.map((one) => deferredOf(one)),
    ];
    isUpToDate = isLast;
    if (end.event_id === position.event_id && end.sql_transaction === position.sql_transaction) return false;
    await database.transaction(async (sql) => {
      await movePublication(sql, name, owner, end);
      await deferDeliveries(sql, name, deferred);
    });
    position = end;
    if (deferred.length > 0) await checkRoom();
    if (waiting.length < events.length) {
      takesSomething();
      isThere = failed.every(({ failure }) => failure.isRejected);
    }
    return true;
  }

  /**
   * Sends the events of each resource one after another, until one fails, and those of different resources together. Stops
   * if the target takes nothing.
   */
  async function sendInOrder(events: FeedRow[], signal: AbortSignal) {
    const all = [...Map.groupBy(events, keyOf).values()];
    const groups = attemptsAway > 0 ? [all.slice(0, probeMax), all.slice(probeMax)] : [all];
    const failed: { failure: Failure; event: FeedRow; later: FeedRow[] }[] = [];
    let delivered = 0;
    let isAway = false;
    for (let chains of groups) {
      for (let index = 0; chains.length > 0 && !isAway && !signal.aborted; index += 1) {
        const failures = await send(
          chains.map((chain) => chain[index] as FeedRow),
          signal,
        );
        isAway = delivered === 0 && failures.every((failure) => failure && !failure.isRejected);
        chains = chains.filter((chain, place) => {
          const failure = failures[place];
          if (failure)
            failed.push({ failure, event: chain[index] as FeedRow, later: chain.slice(index + 1) });
          else delivered += 1;
          return !failure && index + 1 < chain.length;
        });
      }
    }
    return { failed, isAway };
  }

  const send = (events: FeedRow[], signal: AbortSignal) =>
    (target as Target).send(
      events.map((event) => deliveryOf(event, format, publisher)),
      signal,
    );

  /** Makes another attempt for events that are due. Resolves with true if there were some. */
  async function retryDeferred(signal: AbortSignal): Promise<boolean> {
    const due = await dueDeliveries(database, name, dueMax);
    if (due.length === 0) return false;
    const failures = await send(due, signal);
    if (signal.aborted || !position) return false;
    const unmoved = position;
    const isAway = failures.every((failure) => failure && !failure.isRejected);
    if (isAway && !isThere) {
      takesNothing(failures[0]?.reason ?? "");
      return true;
    }
    isThere = !isAway;
    if (!isAway) takesSomething();
    const again: DeferredDelivery[] = [];
    const ended: { event: FeedRow; reason?: string }[] = [];
    for (const [index, { attempts, ...event }] of due.entries()) {
      const failure = failures[index];
      const delayMs = delaysMs[attempts];
      if (!failure) ended.push({ event });
      else if (delayMs === undefined) ended.push({ event, reason: failure.reason });
      else again.push(deferredOf(event, attempts + 1, delayMs, failure.reason));
    }
    await database.transaction(async (sql) => {
      await movePublication(sql, name, owner, unmoved);
      await deferDeliveries(sql, name, again);
      await removeDeferred(
        sql,
        name,
        ended.map(({ event }) => event.id),
      );
      const rejected = ended.flatMap(({ event, reason }) => (reason === undefined ? [] : { event, reason }));
      await saveDeadLetters(
        sql,
        rejected.map(({ event, reason }) => ({
          source_id: `${name} ${event.id}`,
          body: Buffer.from(deliveryOf(event, format, publisher).body),
          reason: `the target rejects it: ${reason}`,
          published: { target: name, event_id: event.id },
        })),
      );
    });
    for (const { event, reason } of ended)
      if (reason !== undefined)
        log.warn(
          { ...fields, event: event.id, reason },
          "an event became a dead letter: its target rejects it",
        );
    return true;
  }

  /** Steps as long as this process is the owner. The ownership is renewed meanwhile. */
  async function publish(): Promise<void> {
    const lost = new AbortController();
    const signal = AbortSignal.any([stop.signal, lost.signal]);
    const renewal = setInterval(() => {
      renewPublication(database, name, owner, { isUpToDate, problem }).then(
        (isOwner) => isOwner || lost.abort(),
        // Until another process is the owner, nothing is lost.
        () => {},
      );
    }, renewEveryMs);
    try {
      while (!signal.aborted) await pause(await step(signal), signal);
    } finally {
      clearInterval(renewal);
      position = undefined;
    }
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        await claim();
        failing.succeeded();
        if (position) await publish();
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

/** An event that waits for another attempt, by default behind another one of its resource. */
function deferredOf(
  event: FeedRow,
  attempts = 0,
  delayMs = 0,
  reason: string | null = null,
): DeferredDelivery {
  const { sql_transaction, event_id } = positionOf(event);
  const { resource_type, resource_external_id } = event;
  return { sql_transaction, event_id, resource_type, resource_external_id, attempts, delayMs, reason };
}
