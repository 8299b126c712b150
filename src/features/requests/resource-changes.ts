import type { ChangeFeed, FeedEntry, History } from "../store/store.ts";

/** Maximum number of records of the feed that one page covers. */
const coveredMax = 10_000;
/** Number of records that are read at once. The memory of a search is that of its matches and of so many records. */
const recordsPerRead = 1000;

/** Reads changes of a resource from the history, as `searchFeed` does from the feed. */
export async function readHistory(
  history: History,
  resource: string,
  id: string,
  after: string | undefined,
  limit: number,
) {
  const found = await history.changes(resource, id, after, limit);
  return found && { found, next: found.length === limit ? found.at(-1)?.cursor : undefined };
}

/**
 * Searches the feed after a cursor for up to `limit` changes of a resource, in up to `coveredMax` records. `next` is the
 * cursor after the records that were covered; undefined if they reach the newest one. Resolves with undefined if the cursor
 * is unknown or a record after it has been deleted. After the signal it resolves soon, with a shorter page.
 */
export async function searchFeed(
  feed: ChangeFeed,
  resource: string,
  id: string,
  after: string | undefined,
  limit: number,
  signal: AbortSignal,
) {
  // Read first: records that are added meanwhile do not lengthen the search.
  const end = await feed.newest();
  const found: FeedEntry[] = [];
  let next = after;
  for (let covered = 0; covered < coveredMax; covered += recordsPerRead) {
    const entries = await feed.changes(next, recordsPerRead, end);
    // If records have been deleted during the search, the request for the next page finds it out.
    if (!entries) return covered === 0 ? undefined : { found, next };
    if (entries.length === 0) return { found, next: undefined };
    for (const entry of entries) {
      next = entry.cursor;
      if (entry.record.id === id && entry.record.resource === resource) found.push(entry);
      if (found.length === limit) break;
    }
    if (next === end) return { found, next: undefined };
    if (found.length === limit || signal.aborted) break;
  }
  return { found, next };
}
