import type { Owner } from "../../waiting/owner.ts";
import { letOthersRun } from "../../waiting/turns.ts";
import { type Entry, type FeatureChange, type Features, featuresMax } from "../store/store.ts";
import type { LongWork } from "./long-work.ts";

/** Maximum number of features that one change removes from a list that is longer than `featuresMax`. */
const removalsPerChange = 250;

export const namesOf = (entries: Entry[]): string[] => entries.map(({ feature }) => feature);
export const removalOf = (feature: string): FeatureChange => ({ type: "remove", feature });

/** Replaces the list of a resource if `mayReplace` accepts it. Resolves with the new list, or undefined if not. */
export async function replaceList(
  store: Features,
  long: LongWork,
  owner: Owner,
  [resource, id, features]: [resource: string, id: string, features: string[]],
  mayReplace: (list: string[]) => boolean,
): Promise<string[] | undefined> {
  const wanted = new Set(features);
  for (;;) {
    let list = namesOf(await store.list(resource, id));
    if (!mayReplace(list)) return undefined;
    const kept = list.filter((feature) => wanted.has(feature));
    let removals = list.filter((feature) => !wanted.has(feature)).map(removalOf);
    if (list.length > featuresMax) {
      // The list is too long for one change.
      for (let start = 0; start < removals.length; start += removalsPerChange) {
        const some = removals.slice(start, start + removalsPerChange);
        await long(owner, some.length, () => store.change(resource, id, some));
        await letOthersRun();
      }
      [list, removals] = [kept, []];
    }
    const changes = [...removals, ...features.map((feature) => ({ type: "add" as const, feature }))];
    // If the list has changed meanwhile, the new list is checked again.
    const outcome = await long(owner, changes.length, () => store.change(resource, id, changes, list));
    if ("had" in outcome) return [...kept, ...wanted.difference(new Set(kept))];
  }
}
