import type { FeedEvent } from "../tables/feed/deferred-delivery.ts";
import type { Place } from "./reach.ts";
import type { PublishedEvent } from "./target.ts";

/** An event that waits to be sent, or is in flight. */
export interface Entry {
  event: FeedEvent;
  delivery: PublishedEvent;
  /** The number of attempts that have failed and count. */
  attempts: number;
  /** Undefined if the event was deferred and has a row in the database. Its place in the feed is passed then. */
  place: Place | undefined;
  /** True if the target has taken another event since an attempt failed that does not count. */
  isReleased: boolean;
}

/** The order of events: at most one event of a resource is in flight, and resources take turns. */
export interface Order {
  /** The events of each resource, in order. At most the first one is in flight. */
  chains: Map<string, Entry[]>;
  /** The chains whose first event can be sent, in the order of their turns. */
  ready: Set<Entry[]>;
}

const chainOf = ({ chains }: Order, { delivery }: Entry) => chains.get(delivery.key) as Entry[];

export function append({ chains, ready }: Order, entry: Entry): void {
  const { key } = entry.delivery;
  const chain = chains.get(key);
  if (chain) {
    chain.push(entry);
    return;
  }
  const made = [entry];
  chains.set(key, made);
  ready.add(made);
}

/**
 * The next events of up to `max` different resources. They are in flight from now on. An event that was released is alone: if
 * it made others fail, these would seem to have failed themselves.
 */
export function takeReady({ ready }: Order, max: number): Entry[] {
  const taken: Entry[] = [];
  for (const chain of ready) {
    const [entry] = chain as [Entry];
    if (taken.length === max || (entry.isReleased && taken.length > 0)) break;
    ready.delete(chain);
    taken.push(entry);
    if (entry.isReleased) break;
  }
  return taken;
}

/** An event in flight waits for the next turn of its resource. */
export function putBack(order: Order, entry: Entry): void {
  order.ready.add(chainOf(order, entry));
}

/** Removes an event in flight. The next one has its turn after the events of the other resources. */
export function removeFirst(order: Order, entry: Entry): void {
  const chain = chainOf(order, entry);
  chain.shift();
  if (chain.length === 0) order.chains.delete(entry.delivery.key);
  else order.ready.add(chain);
}

/** Removes an event in flight, and the events behind it. */
export function removeChain(order: Order, entry: Entry): Entry[] {
  const chain = chainOf(order, entry);
  order.chains.delete(entry.delivery.key);
  return chain;
}
