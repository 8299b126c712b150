import type { operations } from "../../../generated/features.ts";
import { failure, parameterFault } from "../../http/failure.ts";
import type { Handlers } from "../../http/handlers.ts";
import { toJson } from "../../values/json.ts";
import { unknownCursor } from "../requests/errors.ts";
import { openChangeStreams, viewRecord } from "../requests/feed.ts";
import { type LongWork, unknownSize } from "../requests/long-work.ts";
import { readHistory, searchFeed } from "../requests/resource-changes.ts";
import type { ChangeFeed, FeatureStore } from "../store/store.ts";

const lastNotAllowed = parameterFault(
  "last",
  { not: "cursor" },
  "query parameter last is not allowed with cursor",
);

/** The change feed, and the changes of one resource. */
export function changeHandlers(store: ChangeFeed & Pick<FeatureStore, "history">, long: LongWork) {
  const follow = openChangeStreams(store);
  return {
    async listChanges({ query: { cursor, last, limit }, headers, mediaType, signal, log, owner }) {
      if (cursor !== undefined && last !== undefined) return failure(400, lastNotAllowed);
      const given = headers["Last-Event-ID"] ?? cursor;
      log.debug({ cursor: given, last, limit }, "list changes");
      const isStream = mediaType === "text/event-stream";
      // Read before the records, so that a record added in between is after the cursor and on the next page.
      const newest = given === undefined || given === "newest" ? await store.newest() : given;
      const ofLast =
        given === undefined && last ? await long(owner, last, () => store.newest(last)) : undefined;
      const after = ofLast ?? (given === "newest" ? newest : given);
      // A stream reads its records by itself. Only a cursor that the client has kept can be too old.
      const size = isStream ? 1 : limit;
      const read = async () =>
        // If records of the last ones have been deleted in between, all others are among them.
        (await store.changes(after, size)) ??
        (ofLast === undefined ? undefined : await store.changes(undefined, size));
      const entries = isStream && given !== newest ? [] : await long(owner, size, read);
      if (entries === undefined) return failure(410, unknownCursor);
      if (isStream) return { status: 200, type: mediaType, body: follow(owner, {}, after, signal) };
      const next_cursor = entries.at(-1)?.cursor ?? newest;
      return mediaType === "application/x-ndjson"
        ? { status: 200, type: mediaType, body: entries.map(viewRecord).map(toJson).join("") }
        : { status: 200, body: { changes: entries.map(viewRecord), next_cursor } };
    },

    async listResourceChanges({ path: { resource, id }, query: { cursor, limit }, signal, log, owner }) {
      log.debug({ resource, id, cursor, limit }, "list resource changes");
      const { history } = store;
      const page = await (history
        ? long(owner, limit, () => readHistory(history, resource, id, cursor, limit))
        : long(owner, unknownSize, () => searchFeed(store, resource, id, cursor, limit, signal)));
      if (page === undefined) return failure(410, unknownCursor);
      const { found, next: next_cursor } = page;
      const changes = found.map(viewRecord);
      return { status: 200, body: { changes, ...(next_cursor !== undefined && { next_cursor }) } };
    },
  } satisfies Partial<Handlers<operations>>;
}
