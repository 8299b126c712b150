import { sharedNext } from "../../../waiting/shared.ts";
import { letOthersRun } from "../../../waiting/turns.ts";
import { type ChangeFeed, type FeatureStore, type FeedEntry, ignoreFailure } from "../store.ts";
import type { StoredEntry } from "../stored-entry.ts";
import { openChangeLog } from "./change-log.ts";
import { directoryOf } from "./directory.ts";
import { type Contents, expireEntries, expiriesPerWrite } from "./entries.ts";
import { featuresIn } from "./features.ts";
import { historyIn } from "./history.ts";
import { keysUpTo } from "./keys.ts";
import { firstIn, type OrderedMap } from "./map.ts";
import { openUses } from "./uses.ts";

/** Maximum number of records that are read at once. */
const recordsPerRead = 250;

/** A feature store in an ordered map. */
export async function openOrderedStore(map: OrderedMap, recordsKept: number): Promise<FeatureStore> {
  const log = await openChangeLog(map, recordsKept);
  const contents: Contents = { map, log, uses: await openUses(map) };
  const expire = sharedNext(() => expireSome(contents));
  return {
    ...featuresIn(contents),
    ...directoryOf(contents),
    ...feedOf(contents, expire),
    history: log.keepsAll ? historyIn(map, log) : undefined,
    expire,
    [Symbol.asyncDispose]: () => map[Symbol.asyncDispose](),
  };
}

/** See `Upkeep.expire`. */
async function expireSome(contents: Contents): Promise<boolean> {
  const { map } = contents;
  const due = (size: number) => firstIn<StoredEntry>(map, keysUpTo(Date.now(), "due"), size);
  if (map.read(() => due(1).length === 0)) return false;
  return await map.write(() => {
    const expired = due(expiriesPerWrite);
    expireEntries(contents, expired);
    return expired.length === expiriesPerWrite;
  });
}

const feedOf = ({ map, log }: Contents, expire: () => Promise<boolean>): ChangeFeed => ({
  async changes(after, limit, until) {
    await expire().catch(ignoreFailure);
    const page: FeedEntry[] = [];
    while (page.length < limit) {
      const from = page.at(-1)?.cursor ?? after;
      const size = Math.min(limit - page.length, recordsPerRead);
      const entries = map.read(() => log.after(from, size, until));
      // What has been read is a page; the next one finds out that records after it have been deleted meanwhile.
      if (!entries && page.length === 0) return undefined;
      page.push(...(entries ?? []));
      if (!entries || entries.length < size) break;
      await letOthersRun();
    }
    return page;
  },
  async newest(before) {
    await expire().catch(ignoreFailure);
    return map.read(() => log.newest(before));
  },
});
