import type { components } from "../../../generated/features.ts";
import { recordsMax } from "../../http/streams/event-stream.ts";
import { chunkLength, openStreams, streamEvent } from "../../http/streams/feed.ts";
import { type ChangeFeed, type FeedEntry, StoreFailure } from "../store/store.ts";
import { instantOf, viewExpiry } from "./expiry.ts";

/** A feed entry as the contract shows it. */
export function viewRecord({
  cursor,
  record: { type, at, resource, id, feature, expiresAt },
}: FeedEntry): components["schemas"]["ChangeRecord"] {
  return { cursor, type, at: instantOf(at), resource, id, feature, ...viewExpiry(expiresAt) };
}

/** Creates the streams of the change feed. */
export const openChangeStreams = (feed: ChangeFeed) =>
  openStreams({
    news: feed.news,
    newest: feed.newest,
    async read(_all: object, after, newest) {
      const entries = await feed.changes(after, recordsMax, newest);
      if (entries === undefined) return undefined;
      let text = "";
      let cursor = after;
      for (const entry of entries) {
        text += streamEvent(viewRecord(entry));
        cursor = entry.cursor;
        if (text.length >= chunkLength) break;
      }
      return { ...(text !== "" && { text }), cursor };
    },
    cursorAt: (cursor) => cursor,
    isOutage: (error) => error instanceof StoreFailure,
  });
