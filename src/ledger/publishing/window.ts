import type { Resource } from "../tables/event.ts";
import type { FeedPosition } from "../tables/feed/feed.ts";
import type { DeferredDelivery } from "../tables/feed/publication.ts";
import type { PublishedEvent } from "./target.ts";

/** An event that waits to be sent, or is in flight. */
export interface Entry {
  event: Resource & Pick<FeedPosition, "sql_transaction" | "event_id">;
  delivery: PublishedEvent;
  /** The number of attempts that have failed and count. */
  attempts: number;
  /** True if it was deferred and has a row in the database. Its place in the feed is passed then. */
  isDeferred: boolean;
  /** True if the target has taken another event since an attempt failed that does not count. */
  isReleased: boolean;
}

/** A page of the feed for the window. */
export interface WindowPage {
  /** Those of resources with deferred deliveries have no delivery: they wait behind these. */
  events: { event: Entry["event"]; position: FeedPosition; delivery: PublishedEvent | undefined }[];
  /** The last position that was read. */
  end: FeedPosition;
  /** When it was read, if there were no more events; on the clock of the caller. */
  completeAt: number | undefined;
}

/** What the database does not know yet. */
export interface Outcome {
  /** The end of the unbroken sequence of events that were confirmed, deferred or made dead letters; undefined if it has not moved. */
  position: FeedPosition | undefined;
  /** Deferred events, and those behind them. */
  deferred: DeferredDelivery[];
  /** Deferred events that were confirmed or became dead letters. */
  ended: Entry["event"][];
  deadLetters: { entry: Entry; reason: string }[];
}

/** A position in the feed up to which the window was filled. */
interface Place {
  position: FeedPosition;
  isEnded: boolean;
  completeAt?: number | undefined;
}

/** The events of a resource, in order. At most the first one is in flight. */
interface Chain {
  key: string;
  entries: Entry[];
  /** True if its first event is in flight or held. */
  isBusy: boolean;
}

interface Limits {
  countMax: number;
  bytesMax: number;
}

/**
 * The events between the position of a target in the database and the one up to which the feed was read, and deferred
 * deliveries whose time has come. At most one event of a resource is in flight, and the next one only after it was
 * confirmed. Resources take turns. The position moves to the end of the unbroken sequence of ended events. It performs no
 * I/O: what happened to its events is in `takeOutcome`.
 */
export function openWindow({ countMax, bytesMax }: Limits) {
  /** In the order of the feed. Those before the oldest event that is not ended are removed. */
  const places: Place[] = [];
  const placeOf = new Map<Entry, Place>();
  const chains = new Map<string, Chain>();
  /** In the order of their turns. */
  const ready = new Set<Chain>();
  /** Resources with an event that was deferred since the last outcome: the database does not say so yet. */
  const deferring = new Map<string, Resource>();
  const bytes = { feed: 0, deferred: 0 };
  /** The resources of deferred events in the window, with the number of these. */
  const deferredOf = new Map<string, { resource: Resource; count: number }>();
  /** The last position in an outcome. */
  let reached: FeedPosition | undefined;
  let completeAt: number | undefined;
  let outcome = emptyOutcome();

  const isChanged = () =>
    outcome.position !== undefined ||
    outcome.deferred.length > 0 ||
    outcome.ended.length > 0 ||
    outcome.deadLetters.length > 0;

  function append(entry: Entry): void {
    const { key } = entry.delivery;
    count(entry, 1);
    const chain = chains.get(key);
    if (chain) {
      chain.entries.push(entry);
      return;
    }
    const made = { key, entries: [entry], isBusy: false };
    chains.set(key, made);
    ready.add(made);
  }

  function count({ isDeferred, delivery: { key, body }, event }: Entry, sign: 1 | -1): void {
    bytes[isDeferred ? "deferred" : "feed"] += sign * body.length;
    if (!isDeferred) return;
    const counted = (deferredOf.get(key)?.count ?? 0) + sign;
    if (counted === 0) deferredOf.delete(key);
    else deferredOf.set(key, { resource: event, count: counted });
  }

  /** Removes an event from the window, which is ended or has a row in the database. */
  function forget(entry: Entry): void {
    count(entry, -1);
    const place = placeOf.get(entry);
    if (!place) return;
    place.isEnded = true;
    placeOf.delete(entry);
  }

  function movePosition(): void {
    let ended = 0;
    while (places[ended]?.isEnded) ended += 1;
    for (const { position, completeAt: readAt } of places.splice(0, ended)) {
      // The position of an empty page is that of the page before.
      if (position.event_id !== reached?.event_id) outcome.position = reached = position;
      completeAt = readAt ?? completeAt;
    }
  }

  const chainOf = (entry: Entry): Chain => chains.get(entry.delivery.key) as Chain;

  /** The first event of the chain is ended; the next one has its turn after those of the other resources. */
  function end(entry: Entry): void {
    const chain = chainOf(entry);
    chain.entries.shift();
    chain.isBusy = false;
    if (chain.entries.length === 0) chains.delete(chain.key);
    else ready.add(chain);
    forget(entry);
    if (entry.isDeferred) outcome.ended.push(entry.event);
    movePosition();
  }

  function take(chain: Chain): Entry {
    ready.delete(chain);
    chain.isBusy = true;
    return chain.entries[0] as Entry;
  }

  return {
    /** How many events and bytes there is room for. */
    room: () => ({ count: countMax - places.length, bytes: bytesMax - bytes.feed }),

    /** How many resources the deferred events in the window have, and how many bytes. */
    deferredLoad: () => ({ resources: deferredOf.size, bytes: bytes.deferred }),

    /** The resources of deferred events in the window, and those of which the database does not know the last outcome. */
    deferredResources: (): Resource[] => [
      ...[...deferredOf.values()].map(({ resource }) => resource),
      ...deferring.values(),
      ...outcome.ended,
    ],

    /** Number of resources whose next event can be sent. */
    readyCount: () => ready.size,

    /** When the feed was read whose events have all ended, on the clock of the caller; undefined if there was no such time. */
    completeAt: () => completeAt,

    /** Adds the page behind the last one. */
    addPage({ events, end: position, completeAt: readAt }: WindowPage): void {
      for (const { event, position: at, delivery } of events) {
        const place: Place = { position: at, isEnded: false };
        places.push(place);
        if (!delivery || deferring.has(delivery.key)) {
          outcome.deferred.push(behind(event));
          place.isEnded = true;
          continue;
        }
        const entry = { event, delivery, attempts: 0, isDeferred: false, isReleased: false };
        placeOf.set(entry, place);
        append(entry);
      }
      // The end of an empty page replaces that of the page before.
      const last = places.at(-1);
      const isSame = last?.position.event_id === position.event_id;
      if (last && (last.isEnded || isSame)) Object.assign(last, { position, completeAt: readAt });
      else places.push({ position, isEnded: true, completeAt: readAt });
      movePosition();
    },

    /** Adds deferred events whose time has come, those of a resource in order. Their resources are not in the window. */
    addDeferred(entries: Entry[]): void {
      for (const entry of entries) append(entry);
    },

    /**
     * The next events of up to `max` different resources. They are in flight from now on. An event that was released is alone: if
     * it made others fail, these would seem to have failed themselves.
     */
    takeReady(max: number): Entry[] {
      const taken: Entry[] = [];
      for (const chain of ready) {
        const isAlone = chain.entries[0]?.isReleased === true;
        if (taken.length === max || (isAlone && taken.length > 0)) break;
        taken.push(take(chain));
        if (isAlone) break;
      }
      return taken;
    },

    /** The target has taken an event in flight. */
    confirm: end,

    /** An event in flight waits for the next turn of its resource. */
    putBack(entry: Entry): void {
      const chain = chainOf(entry);
      chain.isBusy = false;
      ready.add(chain);
    },

    /** An event in flight becomes a dead letter. */
    endAsDeadLetter(entry: Entry, reason: string): void {
      outcome.deadLetters.push({ entry, reason });
      end(entry);
    },

    /** An event in flight waits in the database for its next attempt, and later events of its resource behind it. */
    defer(entry: Entry, delayMs: number, reason: string): void {
      const chain = chainOf(entry);
      chains.delete(chain.key);
      deferring.set(chain.key, entry.event);
      outcome.deferred.push({ ...entry.event, attempts: entry.attempts, delayMs, reason });
      for (const one of chain.entries) {
        if (one !== entry && !one.isDeferred) outcome.deferred.push(behind(one.event));
        forget(one);
      }
      movePosition();
    },

    /** True if there is something to record. */
    hasOutcome: isChanged,

    /** What is to be recorded in one transaction before the next page is read. */
    takeOutcome(): Outcome {
      const taken = outcome;
      outcome = emptyOutcome();
      deferring.clear();
      return taken;
    },
  };
}

export type Window = ReturnType<typeof openWindow>;

const emptyOutcome = (): Outcome => ({ position: undefined, deferred: [], ended: [], deadLetters: [] });

const behind = (event: Entry["event"]): DeferredDelivery => ({
  ...event,
  attempts: 0,
  delayMs: null,
  reason: null,
});
