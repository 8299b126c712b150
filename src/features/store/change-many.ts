import type { Wish } from "./store.ts";

/** A wish for some resource. */
export type ResourceWish = Wish & { resource: string; id: string };

/**
 * Fulfils wishes for many resources by a store's `change`, those of each in their order and in one step. Resolves, for
 * each wish, with whether its resource had the feature before it. When it rejects, those of some resources may have been
 * fulfilled.
 */
export async function changeMany<One extends { resource: string; id: string }>(
  change: (resource: string, id: string, wishes: One[]) => Promise<boolean[] | undefined>,
  wishes: One[],
): Promise<boolean[]> {
  const had: boolean[] = [];
  const ofResources = Map.groupBy(wishes.entries(), ([, { resource, id }]) => JSON.stringify([resource, id]));
  await Promise.all(
    Array.from(ofResources.values(), async (members) => {
      const [[, { resource, id }]] = members as [(typeof members)[number]];
      const answers = await change(
        resource,
        id,
        members.map(([, wish]) => wish),
      );
      for (const [position, [index]] of members.entries()) had[index] = answers?.[position] ?? false;
    }),
  );
  return had;
}
