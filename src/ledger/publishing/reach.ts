import type { FeedPosition } from "../tables/feed/feed.ts";

/** A position in the feed up to which events were read. */
export interface Place {
  position: FeedPosition;
  /** True if its event was confirmed, deferred or made a dead letter. */
  isSettled: boolean;
  /** When the position was read, if there were no more events then; on the clock of the caller. */
  completeAt?: number | undefined;
}

/** The position of a target in the feed: the end of the unbroken sequence of settled events. */
export interface Reach {
  /** In the order of the feed. The settled places before the oldest event that is not settled are removed. */
  places: Place[];
  /** The position that was reached; undefined if no event was settled yet. */
  position: FeedPosition | undefined;
  /** When the feed was read whose events have all been settled; undefined if there was no such time. */
  completeAt: number | undefined;
}

export function addPlace({ places }: Reach, position: FeedPosition): Place {
  const place = { position, isSettled: false };
  places.push(place);
  return place;
}

/** Adds the last position of a page. The end of an empty page replaces the end of the page before. */
export function addEnd({ places }: Reach, position: FeedPosition, completeAt: number | undefined): void {
  const last = places.at(-1);
  const isSame = last?.position.event_id === position.event_id;
  if (last && (last.isSettled || isSame)) Object.assign(last, { position, completeAt });
  else places.push({ position, isSettled: true, completeAt });
}

/** Moves to the end of the settled events. Returns true if the position has changed. */
export function advance(reach: Reach): boolean {
  const { places, position: before } = reach;
  let settled = 0;
  while (places[settled]?.isSettled) settled += 1;
  for (const { position, completeAt } of places.splice(0, settled)) {
    // The position of an empty page is that of the page before.
    if (position.event_id !== reach.position?.event_id) reach.position = position;
    reach.completeAt = completeAt ?? reach.completeAt;
  }
  return reach.position !== before;
}
