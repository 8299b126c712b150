import { letOthersRun, mapInTurns } from "../../../waiting/turns.ts";
import { type Directory, pageOf } from "../store.ts";
import { isLive, type StoredEntry, withoutPlace } from "../stored-entry.ts";
import type { Contents } from "./entries.ts";
import { listIn } from "./features.ts";
import { keyOf, keysWithin, withKey } from "./keys.ts";
import { chunksOf, firstIn, keyAfter, type OrderedMap, type Range } from "./map.ts";

/** Maximum number of entries of a page that are read at once, since many requests can arrive at the same time. */
const pageEntriesPerRead = 100;

/** The resources and features of each kind of resource in an ordered map. */
export const directoryOf = ({ map, uses }: Contents): Directory => ({
  async idsWith(resource, feature, after, limit) {
    const afterKey = after === undefined ? undefined : keyOf("with", resource, feature, after);
    const page = await livePage(map, keysWithin("with", resource, feature), afterKey, limit);
    const ids = page.map(({ id }) => id);
    return pageOf(ids, limit);
  },
  counts: (resource, features) =>
    mapInTurns(features, (feature) => map.read(() => uses.count(resource, feature))),
  async featuresInUse(resource, after, limit) {
    return map.read(() => uses.features(resource, after, limit));
  },
  async kinds(after, limit) {
    const kinds: string[] = [];
    const [start, end] = keysWithin("with");
    // Each read skips all entries of the kind before.
    for (let last = after; kinds.length < limit; last = kinds.at(-1)) {
      const from = last === undefined ? start : keysWithin("with", last)[1];
      const [next] = map.read(() => firstIn<StoredEntry>(map, [from, end], 1));
      if (!next) break;
      kinds.push(next.resource);
      await letOthersRun();
    }
    return kinds;
  },
  async entriesOf(resource, after, limit) {
    const afterKey = after && withKey({ resource, ...after });
    return (await livePage(map, keysWithin("with", resource), afterKey, limit)).map(withoutPlace);
  },
  async *entries() {
    let [from, end] = keysWithin("of");
    // Reads one resource at a time, since the map may change while the caller works on an entry.
    for (;;) {
      const [next] = map.read(() => firstIn<StoredEntry>(map, [from, end], 1));
      if (!next) return;
      yield* await listIn(map, next.resource, next.id);
      [, from] = keysWithin("of", next.resource, next.id);
    }
  },
});

/** The first entries under the keys of `withKey` in a range that have not expired, after a key. */
async function livePage(map: OrderedMap, [start, end]: Range, after: string | undefined, limit: number) {
  const range: Range = [after === undefined ? start : keyAfter(after), end];
  const found: StoredEntry[] = [];
  for await (const chunk of chunksOf<StoredEntry>(map, range, withKey, Math.min(limit, pageEntriesPerRead))) {
    for (const entry of chunk) if (isLive(entry)) found.push(entry);
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}
