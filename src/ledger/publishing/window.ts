import type { Resource } from "../tables/event.ts";
import type { DeferredDelivery, FeedEvent } from "../tables/feed/deferred-delivery.ts";
import type { FeedPosition } from "../tables/feed/feed.ts";
import { append, type Entry, type Order, removeChain, removeFirst } from "./order.ts";
import { addEnd, addPlace, advance, type Reach } from "./reach.ts";
import type { PublishedEvent } from "./target.ts";

/** A page of the feed for the window. */
export interface WindowPage {
  /** Events of resources with deferred deliveries have no delivery: they wait behind these. */
  events: { event: FeedEvent; position: FeedPosition; delivery: PublishedEvent | undefined }[];
  /** The last position that was read. */
  end: FeedPosition;
  /** When it was read, if there were no more events; on the clock of the caller. */
  completeAt: number | undefined;
}

/**
 * The events between the position of a target in the database and the one up to which the feed was read, and deferred
 * deliveries whose time has come.
 */
export const openWindow = (countMax: number, bytesMax: number) => ({
  countMax,
  bytesMax,
  order: { chains: new Map(), ready: new Set() } as Order,
  reach: { places: [], position: undefined, completeAt: undefined } as Reach,
  bytes: { feed: 0, deferred: 0 },
  /** The resources of deferred events in the window. */
  deferredOf: new Map<string, Resource>(),
  /** Resources with an event that was deferred since the last outcome: the database does not say so yet. */
  deferring: new Map<string, Resource>(),
  outcome: emptyOutcome(),
});
export type Window = ReturnType<typeof openWindow>;

/** What the database does not know yet. */
const emptyOutcome = () => ({
  /** The position that was reached; undefined if it has not moved. */
  position: undefined as FeedPosition | undefined,
  /** Deferred events, and those behind them. */
  deferred: [] as DeferredDelivery[],
  /** Deferred events that were confirmed or became dead letters. */
  ended: [] as FeedEvent[],
  deadLetters: [] as { entry: Entry; reason: string }[],
});
export type Outcome = ReturnType<typeof emptyOutcome>;

/** How many events and bytes there is room for. */
export const roomIn = ({ countMax, bytesMax, reach, bytes }: Window) => ({
  count: countMax - reach.places.length,
  bytes: bytesMax - bytes.feed,
});

/** The resources of deferred events in the window, and those of which the database does not know the last outcome. */
export const deferredResources = ({ deferredOf, deferring, outcome }: Window): Resource[] => [
  ...deferredOf.values(),
  ...deferring.values(),
  ...outcome.ended,
];

/** Adds the page behind the last one. */
export function addPage(window: Window, { events, end, completeAt }: WindowPage): void {
  const { reach, deferring, outcome } = window;
  for (const { event, position, delivery } of events) {
    const place = addPlace(reach, position);
    if (!delivery || deferring.has(delivery.key)) {
      outcome.deferred.push(behind(event));
      place.isSettled = true;
    } else add(window, { event, delivery, attempts: 0, place, isReleased: false });
  }
  addEnd(reach, end, completeAt);
  movePosition(window);
}

/** Adds deferred events whose time has come, those of a resource in order. Their resources are not in the window. */
export function addDeferred(window: Window, deferred: Pick<Entry, "event" | "delivery" | "attempts">[]) {
  for (const one of deferred) add(window, { ...one, place: undefined, isReleased: false });
}

/** The target has taken an event in flight. */
export function confirm(window: Window, entry: Entry): void {
  removeFirst(window.order, entry);
  settle(window, entry);
  if (!entry.place) window.outcome.ended.push(entry.event);
  movePosition(window);
}

/** An event in flight becomes a dead letter. */
export function endAsDeadLetter(window: Window, entry: Entry, reason: string): void {
  window.outcome.deadLetters.push({ entry, reason });
  confirm(window, entry);
}

/** An event in flight waits in the database for its next attempt, and later events of its resource behind it. */
export function defer(window: Window, entry: Entry, delayMs: number, reason: string): void {
  const { order, deferring, outcome } = window;
  deferring.set(entry.delivery.key, entry.event);
  outcome.deferred.push({ ...entry.event, attempts: entry.attempts, delayMs, reason });
  for (const one of removeChain(order, entry)) {
    if (one !== entry && one.place) outcome.deferred.push(behind(one.event));
    settle(window, one);
  }
  movePosition(window);
}

const behind = (event: FeedEvent): DeferredDelivery => ({
  ...event,
  attempts: 0,
  delayMs: null,
  reason: null,
});

/** True if there is something to record. */
export const hasOutcome = ({ outcome: { position, deferred, ended, deadLetters } }: Window): boolean =>
  position !== undefined || deferred.length + ended.length + deadLetters.length > 0;

/** What is to be recorded in one transaction before the next page is read. */
export function takeOutcome(window: Window): Outcome {
  const { outcome } = window;
  window.outcome = emptyOutcome();
  window.deferring.clear();
  return outcome;
}

function add({ order, bytes, deferredOf }: Window, entry: Entry): void {
  const { key, body } = entry.delivery;
  bytes[entry.place ? "feed" : "deferred"] += body.length;
  if (!entry.place) deferredOf.set(key, entry.event);
  append(order, entry);
}

/** An event that leaves the window has ended, or has a row in the database. Behind a deferred event, none is of the feed. */
function settle({ order, bytes, deferredOf }: Window, { delivery, place }: Entry): void {
  const { key, body } = delivery;
  bytes[place ? "feed" : "deferred"] -= body.length;
  if (place) place.isSettled = true;
  if (!order.chains.has(key)) deferredOf.delete(key);
}

function movePosition({ reach, outcome }: Window): void {
  if (advance(reach)) outcome.position = reach.position;
}
