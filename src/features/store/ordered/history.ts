import { letOthersRun } from "../../../waiting/turns.ts";
import { foldHistory, type NumberedRecord } from "../fold-history.ts";
import type { ChangeRecord, History } from "../store.ts";
import { isLiveAt, type StoredEntry, withoutPlace } from "../stored-entry.ts";
import { digits, keyAfter, keyOf, keysWithin } from "./keys.ts";
import type { OrderedMap } from "./map.ts";

/** Minimum number of records of a resource between two saved lists. */
const recordsPerList = 100;
/** Number of resources, or of records, that are read at once. */
const itemsPerRead = 100;

/** What the next record of a resource needs to know of the last ones. */
interface Life {
  /** The instant of the latest record. */
  at: number;
  /** Number of records since the last saved list. */
  records: number;
}

/** The list of a resource after its record with this number. */
interface SavedList {
  number: number;
  entries: StoredEntry[];
}

/** A change of a feature of one resource. */
interface Version {
  id: string;
  type: "added" | "removed";
  expiresAt?: number | undefined;
}

/** The change log as far as the history reads it, within `read`. */
interface Records {
  record(number: number): ChangeRecord;
  numberOf(cursor: string | undefined): number | undefined;
  cursorOf(number: number): string;
}

/**
 * Records the past of resources. The keys, besides those of the change log:
 *
 *     life, RESOURCE, ID                          -> Life
 *     record, RESOURCE, ID, number                -> the number
 *     list, RESOURCE, ID, instant, number         -> SavedList
 *     version, RESOURCE, FEATURE, ID, instant, number -> Version
 */
export function historyIn(map: OrderedMap) {
  const lifeOf = (resource: string, id: string) =>
    map.get<Life>(keyOf("life", resource, id)) ?? { at: 0, records: 0 };
  /** The last value with the parts and an instant up to `at`. */
  const lastUpTo = <Value>(at: number, ...parts: string[]) =>
    map.last<Value>(keysWithin(...parts)[0], keyOf(...parts, digits(at + 1)));
  const isPresent = (version: Version | undefined, at: number) =>
    version?.type === "added" && isLiveAt(at, version);

  /** True if many records of a resource are newer than its last saved list. Within `read` or `write` only. */
  function isListDue(resource: string, id: string): boolean {
    const { records } = lifeOf(resource, id);
    return records >= recordsPerList && records >= map.count(...keysWithin("of", resource, id));
  }

  return {
    /** Records changes within one `write`. At its end `save` writes the lives, each once. */
    recorder() {
      const lives = new Map<string, Life>();
      function lifeOfNext(resource: string, id: string): Life {
        const key = keyOf("life", resource, id);
        const life = lives.get(key) ?? lifeOf(resource, id);
        lives.set(key, life);
        return life;
      }
      return {
        /** The instant of the next change of a resource, never before that of its last one. */
        nextInstant: (resource: string, id: string): number =>
          Math.max(Date.now(), lifeOfNext(resource, id).at),
        add(number: number, { type, at, resource, id, feature, expiresAt }: ChangeRecord): void {
          const life = lifeOfNext(resource, id);
          life.at = Math.max(at, life.at);
          life.records += 1;
          map.put(keyOf("record", resource, id, digits(number)), number);
          // An addition that has an expiry time says when it ends.
          if (type === "expired") return;
          const key = keyOf("version", resource, feature, id, digits(at), digits(number));
          map.put(key, { id, type, expiresAt } satisfies Version);
        },
        save(): void {
          for (const [key, life] of lives) if (life.records > 0) map.put(key, life);
        },
      };
    },

    isListDue,

    /** Saves the list of a resource after the record with this number, if it is due. Within `write` only. */
    saveList(resource: string, id: string, number: number): void {
      if (!isListDue(resource, id)) return;
      const { at } = lifeOf(resource, id);
      const entries = [...map.range<StoredEntry>(...keysWithin("of", resource, id))];
      map.put(keyOf("list", resource, id, digits(at), digits(number)), {
        number,
        entries,
      } satisfies SavedList);
      map.put(keyOf("life", resource, id), { at, records: 0 } satisfies Life);
    },

    /** Reads what was recorded. */
    reader(log: Records): History {
      return {
        // The next writer takes the clock after this one.
        settled: () => map.write(() => Date.now() - 1),

        async list(resource, id, at) {
          // Many requests can arrive at the same time.
          await letOthersRun();
          return map.read(() => {
            const saved = lastUpTo<SavedList>(at, "list", resource, id);
            const [, end] = keysWithin("record", resource, id);
            const first = keyOf("record", resource, id, digits((saved?.number ?? 0) + 1));
            // Read one by one, since the fold ends at the first record that is later.
            const records = Iterator.from(map.range<number>(first, end)).map((number) => ({
              number,
              record: log.record(number),
            }));
            return foldHistory(saved?.entries ?? [], records, at).map(withoutPlace);
          });
        },

        async has(resource, id, features, at) {
          return map.read(() =>
            features.map((feature) => isPresent(lastUpTo<Version>(at, "version", resource, feature, id), at)),
          );
        },

        async idsWith(resource, feature, at, after, limit) {
          const [start, end] = keysWithin("version", resource, feature);
          const afterId = (id: string) => keysWithin("version", resource, feature, id)[1];
          const ids: string[] = [];
          let next = after;
          for (let examined = 0; examined < limit; examined += 1) {
            if (examined % itemsPerRead === 0) await letOthersRun();
            const from = next === undefined ? start : afterId(next);
            const id = map.read(() => {
              const [first] = Iterator.from(map.range<Version>(from, end)).take(1).toArray();
              if (!first) return undefined;
              const version = lastUpTo<Version>(at, "version", resource, feature, first.id);
              if (isPresent(version, at)) ids.push(first.id);
              return first.id;
            });
            if (id === undefined) return { ids, next: undefined };
            next = id;
          }
          return { ids, next };
        },

        async changes(resource, id, after, limit) {
          const number = map.read(() => log.numberOf(after));
          if (number === undefined) return undefined;
          const [, end] = keysWithin("record", resource, id);
          const page: NumberedRecord[] = [];
          let from = keyOf("record", resource, id, digits(number + 1));
          while (page.length < limit) {
            await letOthersRun();
            const size = Math.min(limit - page.length, itemsPerRead);
            const records = map.read(() =>
              Iterator.from(map.range<number>(from, end))
                .take(size)
                .map((number) => ({ number, record: log.record(number) }))
                .toArray(),
            );
            page.push(...records);
            const last = records.at(-1);
            if (!last || records.length < size) break;
            from = keyAfter(keyOf("record", resource, id, digits(last.number)));
          }
          return map.read(() => page.map(({ number, record }) => ({ record, cursor: log.cursorOf(number) })));
        },
      };
    },
  };
}
