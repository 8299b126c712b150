import { setImmediate as afterThisTurn } from "node:timers/promises";
import type { ChangeRecord } from "../change-stream.ts";

/**
 * When each feature expires, in milliseconds since 1970, by kind, feature and identifier. An entry takes 60 to 70 bytes,
 * however many features a resource has: a map for each resource takes four times as much if it has one feature.
 */
export type Entries = Map<string, Map<string, Map<string, number>>>;

/** The time of an entry that does not expire. A small integer takes no memory of its own. */
const never = 0;

/** Number of identifiers that are compared in one turn of the event loop. */
const comparedPerTurn = 20_000;

export const expiryOf = (expiresAt: string | undefined) =>
  expiresAt === undefined ? never : Date.parse(expiresAt);

export const isLive = (expiresAt: number) => expiresAt === never || expiresAt > Date.now();

export const emptyEntries = (kinds: string[]): Entries => new Map(kinds.map((kind) => [kind, new Map()]));

/** Sets an entry of a kind that there is. Returns whether it was different. */
export function setEntry(
  entries: Entries,
  { resource, feature, id }: Pick<ChangeRecord, "resource" | "feature" | "id">,
  expiresAt: number,
): boolean {
  const features = entries.get(resource);
  if (!features) return false;
  let ids = features.get(feature);
  if (!ids) {
    ids = new Map();
    features.set(feature, ids);
  }
  if (ids.get(id) === expiresAt) return false;
  ids.set(id, expiresAt);
  return true;
}

/** Makes the change of a record. Returns whether the entries were different. Records of other kinds change nothing. */
export function applyChange(entries: Entries, record: ChangeRecord): boolean {
  if (record.type === "added") return setEntry(entries, record, expiryOf(record.expires_at));
  const features = entries.get(record.resource);
  const ids = features?.get(record.feature);
  if (!features || !ids?.delete(record.id)) return false;
  if (ids.size === 0) features.delete(record.feature);
  return true;
}

/** The features whose entries differ, in turns of the event loop. */
export async function changedFeatures(before: Entries, after: Entries): Promise<Set<string>> {
  const changed = new Set<string>();
  let compared = 0;
  for (const [kind, features] of after) {
    const featuresBefore = before.get(kind) ?? new Map<string, Map<string, number>>();
    for (const feature of new Set([...features.keys(), ...featuresBefore.keys()])) {
      const ids = features.get(feature);
      const idsBefore = featuresBefore.get(feature);
      if (ids?.size !== idsBefore?.size) changed.add(feature);
      for (const [id, expiresAt] of ids ?? []) {
        if (changed.has(feature)) break;
        if (idsBefore?.get(id) !== expiresAt) changed.add(feature);
        compared += 1;
        if (compared % comparedPerTurn === 0) await afterThisTurn();
      }
    }
  }
  return changed;
}
