import { eachInTurns } from "../../waiting/turns.ts";
import { type ChangeOutcome, type FeatureChange, resourceKey } from "./store.ts";

/** A change to a feature of the resource that it names. */
export type ResourceChange = FeatureChange & { resource: string; id: string };

/** An LMDB commits the changes to these resources together. */
const resourcesAtATime = 50;

/**
 * Makes changes to many resources with a store's `change`, which makes those to one resource in order and atomically.
 * Resolves with whether the resource had the feature before each change; or with the first change to a resource that
 * would have too many features. In this case, and if it rejects, the changes to other resources may have been made.
 */
export async function changeMany<Change extends { resource: string; id: string }>(
  change: (resource: string, id: string, changes: Change[]) => Promise<ChangeOutcome>,
  changes: Change[],
): Promise<{ had: boolean[] } | { tooMany: number }> {
  const had: boolean[] = [];
  const rejected: number[] = [];
  const byResource = Map.groupBy(changes.entries(), ([, change]) => resourceKey(change));
  await eachInTurns(byResource.values(), resourcesAtATime, async (members) => {
    const [[first, { resource, id }]] = members as [(typeof members)[number]];
    const own = members.map(([, member]) => member);
    const outcome = await change(resource, id, own);
    if ("rejected" in outcome) rejected.push(first);
    else for (const [position, [index]] of members.entries()) had[index] = outcome.had[position] as boolean;
  });
  return rejected.length > 0 ? { tooMany: Math.min(...rejected) } : { had };
}
