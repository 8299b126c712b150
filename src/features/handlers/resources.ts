import type { components, operations } from "../../../generated/features.ts";
import type { Handlers } from "../../http/handlers.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { errorLine, unknownCursor } from "../requests/errors.ts";
import { viewExpiry } from "../requests/expiry.ts";
import { viewRecord } from "../requests/feed.ts";
import { type LongWork, unknownSize } from "../requests/long-work.ts";
import type { Entry, FeatureStore, FeedEntry, History } from "../store/store.ts";

type ResourceOperation = "getResource" | "listResourceChanges";

/** Maximum number of records of the feed that one page covers. */
const coveredMax = 10_000;
/** Number of records that are read at once. The memory of a search is that of its matches and of so many records. */
const recordsPerRead = 1000;

/** One resource with its features, and its changes. */
export function resourceHandlers(
  store: FeatureStore,
  long: LongWork,
): Pick<Handlers<operations>, ResourceOperation> {
  return {
    async getResource({ path: { resource, id }, log }) {
      log.debug({ resource, id }, "get resource");
      const features = await mapInTurns(await store.list(resource, id), viewFeature);
      return { status: 200, body: { resource, id, features } };
    },

    async listResourceChanges({ path: { resource, id }, query: { cursor, limit }, signal, log, owner }) {
      log.debug({ resource, id, cursor, limit }, "list resource changes");
      const isMatch = ({ record }: FeedEntry) => record.id === id && record.resource === resource;
      const { history } = store;
      const page = await (history
        ? long(owner, limit, () => readHistory(history, resource, id, cursor, limit))
        : long(owner, unknownSize, () => searchFeed(store, isMatch, cursor, limit, signal)));
      if (page === undefined) return errorLine(410, unknownCursor);
      const { found, next } = page;
      return {
        status: 200,
        body: { changes: found.map(viewRecord), ...(next !== undefined && { next_cursor: next }) },
      };
    },
  };
}

function viewFeature({ feature, expiresAt }: Entry): components["schemas"]["FeatureWithExpiry"] {
  return { feature, ...viewExpiry(expiresAt) };
}

interface FoundPage {
  found: FeedEntry[];
  /** The cursor after the records that were covered; undefined if they reach the newest one. */
  next: string | undefined;
}

async function readHistory(
  history: History,
  resource: string,
  id: string,
  after: string | undefined,
  limit: number,
): Promise<FoundPage | undefined> {
  const found = await history.changes(resource, id, after, limit);
  return found && { found, next: found.length === limit ? found.at(-1)?.cursor : undefined };
}

/**
 * Searches the feed after a cursor for up to `limit` matches, in up to `coveredMax` records. Resolves with undefined if the
 * cursor is unknown or a record after it has been deleted. After the signal it resolves soon, with a shorter page.
 */
async function searchFeed(
  store: FeatureStore,
  isMatch: (entry: FeedEntry) => boolean,
  after: string | undefined,
  limit: number,
  signal: AbortSignal,
): Promise<FoundPage | undefined> {
  // Read first: records that are added meanwhile do not lengthen the search.
  const end = await store.newest();
  const found: FeedEntry[] = [];
  let next = after;
  for (let covered = 0; covered < coveredMax; covered += recordsPerRead) {
    const entries = await store.changes(next, recordsPerRead, end);
    // If records have been deleted during the search, the request for the next page finds it out.
    if (!entries) return covered === 0 ? undefined : { found, next };
    if (entries.length === 0) return { found, next: undefined };
    for (const entry of entries) {
      next = entry.cursor;
      if (isMatch(entry)) found.push(entry);
      if (found.length === limit) break;
    }
    if (next === end) return { found, next: undefined };
    if (found.length === limit || signal.aborted) break;
  }
  return { found, next };
}
