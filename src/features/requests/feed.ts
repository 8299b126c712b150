import type { components } from "../../../generated/features.ts";
import { recordsMax } from "../../http/streams/event-stream.ts";
import { chunkLength, openStreams, streamEventWriter } from "../../http/streams/feed.ts";
import { JsonOutput } from "../../values/json-output.ts";
import { valueWriter } from "../../values/json-writer.ts";
import { type ChangeFeed, type FeedEntry, StoreFailure } from "../store/store.ts";
import { instantOf, viewExpiry } from "./expiry.ts";

/** A feed entry as the contract shows it. */
export function viewRecord({
  cursor,
  record: { type, at, resource, id, feature, expiresAt },
}: FeedEntry): components["schemas"]["ChangeRecord"] {
  return { cursor, type, at: instantOf(at), resource, id, feature, ...viewExpiry(expiresAt) };
}

/** About the bytes of a record, so that few outputs grow, and none is kept for a few records. */
const recordBytes = 256;

const writeStreamEvent = streamEventWriter(valueWriter(viewRecord));

/** Creates the streams of the change feed. */
export const openChangeStreams = (feed: ChangeFeed) =>
  openStreams({
    news: feed.news,
    newest: feed.newest,
    async read(_all: object, after, newest) {
      const entries = await feed.changes(after, recordsMax, newest);
      if (entries === undefined) return undefined;
      const out = new JsonOutput(entries.length * recordBytes);
      let cursor = after;
      for (const entry of entries) {
        writeStreamEvent(entry, out);
        cursor = entry.cursor;
        if (out.length >= chunkLength) break;
      }
      return { ...(out.length > 0 && { text: out.take() }), cursor };
    },
    cursorAt: (cursor) => cursor,
    isOutage: (error) => error instanceof StoreFailure,
  });
