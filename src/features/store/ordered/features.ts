import { letOthersRun } from "../../../waiting/turns.ts";
import { type ChangeOutcome, type Entry, type Features, featuresMax, ignoreFailure } from "../store.ts";
import { liveInOrder, type StoredEntry, withoutPlace } from "../stored-entry.ts";
import { type Contents, changeEntries, hasFeature } from "./entries.ts";
import { keysWithin, ofKey } from "./keys.ts";
import { chunksOf, firstIn, type OrderedMap } from "./map.ts";
import { isListDue, saveList } from "./past.ts";

/** Maximum number of entries that are read at once. A list of `featuresMax` is always read at once. */
const entriesPerRead = 2 * featuresMax;
/** Number of entries of a list that is read in a turn of its own. */
const longList = 100;
/** Maximum number of changes that are made beside those of other requests. */
const changesMax = 50;

/** The features of each resource in an ordered map. */
export function featuresIn(contents: Contents): Features {
  const { map, log } = contents;
  /** Long changes are not made in the same turn of the event loop, in which others could not run. */
  let lastLong: Promise<unknown> = Promise.resolve();
  function oneByOne<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = lastLong.then(work);
    lastLong = done.catch(() => {});
    return done;
  }

  /** Saves the list of a resource for the history, if it is due, in a turn of its own. */
  async function saveIfDue(resource: string, id: string): Promise<void> {
    if (!log.keepsAll || !map.read(() => isListDue(map, resource, id))) return;
    await oneByOne(() => map.write(() => saveList(map, resource, id, log.last())));
  }

  const has: Features["has"] = async (resource, id, features) =>
    map.read(() => features.map((feature) => hasFeature(map, resource, id, feature)));

  return {
    list: (resource, id) => listIn(map, resource, id),
    has,
    async hasEach(resources, features) {
      const results: boolean[][] = [];
      for (const { resource, id } of resources) {
        results.push(await has(resource, id, features));
        await letOthersRun();
      }
      return results;
    },
    async change(...request) {
      const [resource, id, changes] = request;
      const make = () => map.write(() => changeEntries(contents, request));
      let outcome: ChangeOutcome | undefined;
      while (!outcome) outcome = await (changes.length > changesMax ? oneByOne(make) : make());
      // The changes are made. If the list cannot be saved, a later change tries it again.
      await saveIfDue(resource, id).catch(ignoreFailure);
      return outcome;
    },
  };
}

/** See `Features.list`. */
export async function listIn(map: OrderedMap, resource: string, id: string): Promise<Entry[]> {
  const range = keysWithin("of", resource, id);
  let found = map.read(() => firstIn<StoredEntry>(map, range, longList));
  if (found.length === longList) {
    // Many requests for long lists can arrive at the same time.
    await letOthersRun();
    found = [];
    for await (const chunk of chunksOf<StoredEntry>(map, range, ofKey, entriesPerRead)) found.push(...chunk);
  }
  return liveInOrder(found).map(withoutPlace);
}
