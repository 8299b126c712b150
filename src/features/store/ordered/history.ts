import { letOthersRun } from "../../../waiting/turns.ts";
import { foldHistory } from "../fold-history.ts";
import type { FeedEntry, History, State } from "../store.ts";
import { isLiveAt, withoutPlace } from "../stored-entry.ts";
import type { ChangeLog } from "./change-log.ts";
import { digits, keyOf, keysUpTo, keysWithin } from "./keys.ts";
import { chunksOf, firstIn, type OrderedMap } from "./map.ts";
import type { SavedList, Version } from "./past.ts";

/** Number of resources, or of records, that are read at once. */
const itemsPerRead = 100;

/** The past of a store in an ordered map whose log has all records. */
export const historyIn = (map: OrderedMap, log: ChangeLog): History => ({
  // The next writer takes the clock after this one.
  settled: () => map.write(() => Date.now() - 1),

  at: (instant) => stateAt(map, log, instant),

  async changes(resource, id, after, limit) {
    const number = map.read(() => log.numberOf(after));
    if (number === undefined) return undefined;
    const [, end] = keysWithin("record", resource, id);
    const keyIn = (number: number) => keyOf("record", resource, id, digits(number));
    const page: FeedEntry[] = [];
    const numbers = chunksOf<number>(map, [keyIn(number + 1), end], keyIn, Math.min(limit, itemsPerRead));
    for await (const chunk of numbers) {
      await letOthersRun();
      page.push(...map.read(() => chunk.map(log.entry)));
      if (page.length >= limit) break;
    }
    return page.slice(0, limit);
  },
});

function stateAt(map: OrderedMap, log: ChangeLog, at: number): State {
  const recordOf = (number: number) => ({ number, record: log.record(number) });
  /** Within `read` only. */
  function isPresent(resource: string, feature: string, id: string): boolean {
    const version = map.last<Version>(...keysUpTo(at, "version", resource, feature, id));
    return version?.type === "added" && isLiveAt(at, version);
  }

  return {
    async list(resource, id) {
      // Many requests can arrive at the same time.
      await letOthersRun();
      return map.read(() => {
        const saved = map.last<SavedList>(...keysUpTo(at, "list", resource, id));
        const [, end] = keysWithin("record", resource, id);
        const first = keyOf("record", resource, id, digits((saved?.number ?? 0) + 1));
        // Read one by one, since the fold ends at the first record that is later.
        const records = Iterator.from(map.range<number>(first, end)).map(recordOf);
        return foldHistory(saved?.entries ?? [], records, at).map(withoutPlace);
      });
    },

    async has(resource, id, features) {
      return map.read(() => features.map((feature) => isPresent(resource, feature, id)));
    },

    async idsWith(resource, feature, after, limit) {
      const [start, end] = keysWithin("version", resource, feature);
      const ids: string[] = [];
      let next = after;
      for (let examined = 0; examined < limit; examined += 1) {
        if (examined % itemsPerRead === 0) await letOthersRun();
        const from = next === undefined ? start : keysWithin("version", resource, feature, next)[1];
        const id = map.read(() => {
          const [version] = firstIn<Version>(map, [from, end], 1);
          if (version && isPresent(resource, feature, version.id)) ids.push(version.id);
          return version?.id;
        });
        if (id === undefined) return { ids, next: undefined };
        next = id;
      }
      return { ids, next };
    },
  };
}
