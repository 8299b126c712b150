import { onDemand } from "../../../waiting/on-demand.ts";
import { eachInTurns } from "../../../waiting/turns.ts";
import { type Directory, type Entry, pageOf } from "../store.ts";
import { listIn } from "./features.ts";
import { keyOf, namesIn, parts } from "./keys.ts";
import { mergedMembers } from "./members.ts";
import { scriptIn } from "./script.ts";
import type { Servers } from "./servers.ts";

const keysPerScan = 500;
const keysAtATime = 16;
const runCount = scriptIn("count.lua");
const runIndex = scriptIn("index.lua");

/** The resources and features of each kind of resource. */
export function directoryOf(servers: Servers): Directory {
  const usesOf = usesIn(servers);
  return {
    async idsWith(resource, feature, after, limit) {
      const members = mergedMembers(servers, ["with", resource, feature], { after, limit });
      const ids = (await takeFrom(members, limit)).map(([{ name }]) => name);
      return pageOf(ids, limit);
    },
    async count(resource, feature) {
      const counts = parts.map((part) => {
        const keys = [keyOf(part, "with", resource, feature), keyOf(part, "due")];
        return runCount<number>(servers, part, keys, [String(Date.now()), resource, feature]);
      });
      return (await Promise.all(counts)).reduce((sum, one) => sum + one);
    },
    featuresInUse: async (resource, limit) =>
      (await takeFrom(usesOf(resource, undefined, limit), limit)).map(({ feature }) => feature),
    async entriesOf(resource, after, limit) {
      const entries: Entry[] = [];
      for await (const uses of usesOf(resource, after?.feature, limit)) {
        for (const { feature, parts } of uses) {
          const wanted = {
            limit: limit - entries.length,
            parts,
            ...(feature === after?.feature && { after: after.id }),
          };
          const members = mergedMembers(servers, ["with", resource, feature], wanted);
          for (const [{ name: id, expiresAt }] of await takeFrom(members, wanted.limit))
            entries.push({ resource, id, feature, ...(expiresAt !== undefined && { expiresAt }) });
          if (entries.length === limit) return entries;
        }
      }
      return entries;
    },
    async *entries() {
      const seen = new Set<string>();
      for await (const keys of keysLike(servers, "features:*:of:*")) {
        const fresh = new Set(keys).difference(seen);
        const groups: Entry[][] = [];
        await eachInTurns(fresh, keysAtATime, async (key) => {
          groups.push(await listIn(servers, ...(namesIn(key) as [resource: string, id: string])));
        });
        for (const key of fresh) seen.add(key);
        yield* groups.flat();
      }
    },
  };
}

/** A feature in use, and the parts in which a resource has it. */
interface Use {
  feature: string;
  parts: number[];
}

/** The features in use by kind of resource. Completes the index of a store that an earlier release has written. */
function usesIn(servers: Servers) {
  // A failure is the failure of the call; the next call tries it again.
  const completion = onDemand(() => completeIndex(servers));
  completion.open().catch(() => {});

  /** Batches of the features that resources of a kind have, from the feature `from` on: about `limit`, and more on demand. */
  return async function* (resource: string, from: string | undefined, limit: number): AsyncGenerator<Use[]> {
    await completion.open();
    const uses: Use[] = [];
    for await (const batch of mergedMembers(servers, ["used", resource], { from, limit })) {
      for (const [{ name }, { part }] of batch) {
        const last = uses.at(-1);
        if (last?.feature === name) last.parts.push(part);
        else uses.push({ feature: name, parts: [part] });
      }
      // The next batch may have more parts of the last feature.
      yield uses.splice(0, uses.length - 1);
    }
    yield uses;
  };
}

async function completeIndex(servers: Servers): Promise<void> {
  const marks = await Promise.all(
    parts.map((part) => servers.send<string | null>(part, ["GET", keyOf(part, "indexed")])),
  );
  if (!marks.includes(null)) return;
  for await (const keys of keysLike(servers, "features:*:with:*")) {
    await eachInTurns(keys, keysAtATime, async (key) => {
      const [resource = "", feature = ""] = namesIn(key) ?? [];
      const part = Number(/\{(\d+)/.exec(key)?.[1]);
      await runIndex(servers, part, [key, keyOf(part, "used", resource)], [feature]);
    });
  }
  await Promise.all(parts.map((part) => servers.send(part, ["SET", keyOf(part, "indexed"), "1"])));
}

/** The keys of all servers that match a pattern, in pages. A key can be returned more than once. */
async function* keysLike(servers: Servers, pattern: string): AsyncGenerator<string[]> {
  let cursor = "0";
  do {
    const match = ["MATCH", pattern, "COUNT", String(keysPerScan)];
    const [next, keys]: [string, string[]] = await servers.send(undefined, ["SCAN", cursor, ...match]);
    yield keys;
    cursor = next;
  } while (cursor !== "0");
}

/** The first items of a sequence of batches. */
async function takeFrom<Item>(batches: AsyncIterable<Item[]>, count: number): Promise<Item[]> {
  const taken: Item[] = [];
  for await (const batch of batches) {
    taken.push(...batch.slice(0, count - taken.length));
    if (taken.length === count) break;
  }
  return taken;
}
