import { DatabaseUnavailable, StatementTimeout } from "../../database/database.ts";
import { failure } from "../../http/failure.ts";
import { HttpError } from "../../http/http-error.ts";
import { bytesOf, lineWriter, listBody } from "../../http/json-body.ts";
import { ownerOfStreams, recordsMax } from "../../http/streams/event-stream.ts";
import { chunkLength, openStreams, streamEventWriter } from "../../http/streams/feed.ts";
import type { News } from "../../waiting/news.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import type { Cursors } from "../requests/cursor.ts";
import { wrong } from "../requests/failures.ts";
import { pageBytesMax, type Reader } from "../requests/lanes.ts";
import { withPositions } from "../requests/reading.ts";
import {
  type FeedFilter,
  type FeedPosition,
  type FeedRow,
  feedStart,
  mayBeInFeed,
  newestInFeed,
  newestOfAccounts,
  positionOf,
  readFeed,
} from "../tables/feed/feed.ts";
import type { PageLimits } from "../tables/page.ts";
import { type FeedEvent, feedEventWriter } from "../views/event.ts";
import { viewNextPage } from "../views/links.ts";

const unknownFeedCursor = wrong(
  "cursor",
  { from: "cursor" },
  "cursor and Last-Event-ID must be the cursor of an event in the feed, or newest",
);
const gone = failure(410, "the event of this cursor does not exist; read the feed from another cursor");

const streamLimits: PageLimits = { countMax: recordsMax, bytesMax: chunkLength };

const writeLine = lineWriter(feedEventWriter);
const writeStreamEvent = streamEventWriter(feedEventWriter);

const withCursors =
  (cursors: Cursors) =>
  (event: FeedRow): FeedEvent => ({ cursor: cursors.feed.write(positionOf(event)), event });

/** The feed of events, in pages and as streams. */
export function feedHandlers(reader: Reader, cursors: Cursors, news?: News) {
  const { sql, lanes } = reader;
  const follow = openStreams({ ...feedOf(reader, cursors), news });
  /** The newest event is that of the accounts: a cursor of others would tell when these have events. */
  const positionFrom = async (cursor: string | undefined, account_ids: string[] | undefined) => {
    if (cursor !== "newest") return cursor === undefined ? feedStart : cursors.feed.read(cursor);
    return account_ids ? newestOfAccounts(sql, account_ids) : newestInFeed(sql);
  };
  return withPositions(reader, cursors, {
    async listEvents({ query, headers: given, mediaType, signal, url, owner }, reading) {
      const { account_id: account_ids, resource_types, event_types, limit } = query;
      const filter: FeedFilter = { account_ids, resource_types, event_types };
      const after = await positionFrom(given["Last-Event-ID"] ?? query.cursor, account_ids);
      if (!after) return unknownFeedCursor;
      if (mediaType === "text/event-stream") {
        if (!(await mayBeInFeed(sql, after))) return gone;
        return { status: 200, type: mediaType, body: follow(owner, filter, placeOf(after), signal) };
      }
      const limits = { countMax: limit, bytesMax: pageBytesMax };
      const lane = reading.at(lanes(owner, account_ids));
      const page = await readFeed(lane, filter, after, limits);
      if (page.isGone) return gone;
      const elements = await mapInTurns(page.events, withCursors(cursors));
      const next_cursor = cursors.feed.write(page.end);
      const { headers } = viewNextPage(url, query, page.isLast ? undefined : next_cursor);
      if (mediaType !== "application/x-ndjson") {
        const rest = { next_cursor, has_more: !page.isLast };
        const body = await listBody({}, "events", { elements, write: feedEventWriter }, rest);
        return { status: 200, headers, body };
      }
      return { status: 200, type: mediaType, headers, body: await bytesOf(elements, writeLine) };
    },
  });
}

/** The feed as the streams read it. The service itself reads it, since one loop serves all of them. */
const feedOf = ({ sql, lanes }: Reader, cursors: Cursors) => ({
  newest: async () => placeOf(await newestInFeed(sql)),
  async read(filter: FeedFilter, after: string | undefined) {
    const page = await readFeed(lanes(ownerOfStreams), filter, positionAt(after), streamLimits);
    if (page.isGone) return undefined;
    const cursor = placeOf(page.end);
    if (page.events.length === 0) return { cursor };
    const events = await mapInTurns(page.events, withCursors(cursors));
    return { text: await bytesOf(events, writeStreamEvent), cursor };
  },
  cursorAt: (place: string) => cursors.feed.write(positionAt(place)),
  /** Also if too many statements wait. */
  isOutage: (error: unknown) =>
    error instanceof DatabaseUnavailable || error instanceof StatementTimeout || error instanceof HttpError,
});

/** A position as text, the same for all streams there. It does not leave the service. */
const placeOf = ({ sql_transaction, event_id, timestamp }: FeedPosition): string =>
  `${sql_transaction} ${event_id} ${timestamp}`;

function positionAt(place: string | undefined): FeedPosition {
  if (place === undefined) return feedStart;
  const [sql_transaction = "", event_id = "", timestamp = ""] = place.split(" ");
  return { sql_transaction: BigInt(sql_transaction), event_id: BigInt(event_id), timestamp };
}
