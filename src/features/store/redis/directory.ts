import { inChunks } from "../../../values/chunks.ts";
import { onDemand } from "../../../waiting/on-demand.ts";
import { eachInTurns, letOthersRun } from "../../../waiting/turns.ts";
import { type Directory, type Entry, pageOf } from "../store.ts";
import { listIn } from "./features.ts";
import { keyOf, namesIn, parts } from "./keys.ts";
import { type MembersKey, mergedMembers, type Wanted } from "./members.ts";
import { scriptIn } from "./script.ts";
import type { Servers } from "./servers.ts";

const keysPerScan = 500;
const keysAtATime = 16;
/** Number of features that a script counts. */
const featuresPerCount = 100;
/** The value of `indexed` in a part whose index is complete. */
const indexMark = "kinds";
const runCount = scriptIn("count.lua");
const runIndex = scriptIn("index.lua");

/** The resources and features of each kind of resource. */
export function directoryOf(servers: Servers): Directory {
  const indexed = indexIn(servers);
  return {
    async idsWith(resource, feature, after, limit) {
      const members = mergedMembers(servers, ["with", resource, feature], { after, limit });
      const ids = (await takeFrom(members, limit)).map(([{ name }]) => name);
      return pageOf(ids, limit);
    },
    async counts(resource, features) {
      const totals: number[] = [];
      for (const some of inChunks(features, () => 1, featuresPerCount)) {
        const counts = await Promise.all(
          parts.map((part) => {
            const keys = [
              keyOf(part, "due"),
              ...some.map((feature) => keyOf(part, "with", resource, feature)),
            ];
            return runCount<number[]>(servers, part, keys, [String(Date.now()), resource, ...some]);
          }),
        );
        totals.push(...some.map((_, index) => counts.reduce((sum, one) => sum + (one[index] ?? 0), 0)));
        await letOthersRun();
      }
      return totals;
    },
    featuresInUse: async (resource, after, limit) =>
      (await takeFrom(indexed(["used", resource], { after, limit }), limit)).map(({ name }) => name),
    kinds: async (after, limit) =>
      (await takeFrom(indexed(["kinds"], { after, limit }), limit)).map(({ name }) => name),
    async entriesOf(resource, after, limit) {
      const entries: Entry[] = [];
      for await (const uses of indexed(["used", resource], { from: after?.feature, limit })) {
        for (const { name: feature, parts } of uses) {
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

/** A kind or a feature in use, and the parts in which it is. */
interface Use {
  name: string;
  parts: number[];
}

/** The kinds in use, and the features of each. Completes the index of a store that an earlier release has written. */
function indexIn(servers: Servers) {
  // A failure is the failure of the call; the next call tries it again.
  const completion = onDemand(() => completeIndex(servers));
  completion.open().catch(() => {});

  /** Batches of the members of `kinds`, or of a `used`: about `limit`, and more on demand. */
  return async function* (...[key, wanted]: [MembersKey, Wanted]): AsyncGenerator<Use[]> {
    await completion.open();
    const uses: Use[] = [];
    for await (const batch of mergedMembers(servers, key, wanted)) {
      for (const [{ name }, { part }] of batch) {
        const last = uses.at(-1);
        if (last?.name === name) last.parts.push(part);
        else uses.push({ name, parts: [part] });
      }
      // The next batch may have more parts of the last name.
      yield uses.splice(0, uses.length - 1);
    }
    yield uses;
  };
}

async function completeIndex(servers: Servers): Promise<void> {
  const marks = await Promise.all(
    parts.map((part) => servers.send<string | null>(part, ["GET", keyOf(part, "indexed")])),
  );
  if (marks.every((mark) => mark === indexMark)) return;
  for await (const keys of keysLike(servers, "features:*:with:*")) {
    await eachInTurns(keys, keysAtATime, async (key) => {
      const [resource = "", feature = ""] = namesIn(key) ?? [];
      const part = Number(/\{(\d+)/.exec(key)?.[1]);
      const keys = [key, keyOf(part, "used", resource), keyOf(part, "kinds")];
      await runIndex(servers, part, keys, [feature, resource]);
    });
  }
  await Promise.all(parts.map((part) => servers.send(part, ["SET", keyOf(part, "indexed"), indexMark])));
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
