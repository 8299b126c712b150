import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "../../database/database.ts";
import { openLooks, openNews } from "../../waiting/news.ts";
import type { EventRow } from "../tables/event.ts";
import { arrivalsOf } from "../tables/freshness-minute.ts";
import { type Freshness, knownTimes } from "./freshness.ts";

/** Transactions whose arrival is awaited. Further ones are not measured. */
const awaitedMax = 200;
/** After this time a transaction is not awaited any more: a failover has lost it. */
const awaitedMaxMs = 600_000;
const lookEveryMs = 200;
/** The pause after a look, as a multiple of its time: measuring must cost little, above all while the database is busy. */
const pauseFactor = 9;

/** The events of a transaction that was committed. They become visible together. */
interface Awaited {
  acceptedMs: number[];
  /** Lookups and reports find the events. */
  isFound: boolean;
  until: number;
}

/**
 * Measures when the database that requests read has the events that this process stores, and when the feed has them: looks
 * whenever a stream would. A commit is found at once in the primary. Nothing is measured while the database is away.
 */
export function watchArrivals(sql: Sql, isReplica: boolean, freshness: Freshness) {
  /** By the number of one of the events. */
  const awaited = new Map<bigint, Awaited>();
  const news = openNews();
  const looks = openLooks(lookEveryMs, news);
  let isWatching = false;

  const find = ({ acceptedMs }: Awaited) => {
    freshness.arrived(["lookup", "report"], acceptedMs);
  };

  async function look(): Promise<void> {
    for (const { event_id, is_in_feed } of await arrivalsOf(sql, [...awaited.keys()])) {
      const one = awaited.get(event_id);
      if (!one) continue;
      if (!one.isFound) find(one);
      one.isFound = true;
      if (!is_in_feed) continue;
      freshness.arrived(["feed"], one.acceptedMs);
      awaited.delete(event_id);
    }
    const now = performance.now();
    for (const [id, { until }] of awaited) if (until < now) awaited.delete(id);
  }

  async function watch(): Promise<void> {
    isWatching = true;
    while (awaited.size > 0) {
      while (!looks.isDue()) await looks.pause();
      const startedAt = performance.now();
      await looks.look(look).catch(() => awaited.clear());
      await sleep((performance.now() - startedAt) * pauseFactor, undefined, { ref: false });
    }
    isWatching = false;
  }

  return {
    /** These events were committed in one transaction. */
    committed(events: EventRow[]): void {
      const [first] = events;
      if (!first) return;
      const acceptedMs = knownTimes(events.map(({ accepted_at }) => accepted_at));
      const one = { acceptedMs, isFound: !isReplica, until: performance.now() + awaitedMaxMs };
      if (!isReplica) find(one);
      if (awaited.size >= awaitedMax) return;
      awaited.set(first.id, one);
      news.emit("news");
      if (!isWatching) void watch();
    },
  };
}
