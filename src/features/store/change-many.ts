import type { FeatureChange } from "./store.ts";

/** A change to a feature of the resource that it names. */
export type ResourceChange = FeatureChange & { resource: string; id: string };

/**
 * Makes changes to many resources with a store's `change`, which makes those to one resource in order and atomically.
 * Resolves with whether the resource had the feature before each change. If it rejects, the changes to some resources
 * may have been made.
 */
export async function changeMany<Change extends { resource: string; id: string }>(
  change: (resource: string, id: string, changes: Change[]) => Promise<boolean[] | undefined>,
  changes: Change[],
): Promise<boolean[]> {
  const had: boolean[] = [];
  const byResource = Map.groupBy(changes.entries(), ([, { resource, id }]) => JSON.stringify([resource, id]));
  await Promise.all(
    Array.from(byResource.values(), async (members) => {
      const [[, { resource, id }]] = members as [(typeof members)[number]];
      const results = await change(
        resource,
        id,
        members.map(([, member]) => member),
      );
      for (const [position, [index]] of members.entries()) had[index] = results?.[position] ?? false;
    }),
  );
  return had;
}
