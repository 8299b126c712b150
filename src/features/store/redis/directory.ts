import { eachInTurns } from "../../../waiting/turns.ts";
import type { Directory, Entry } from "../store.ts";
import { listIn } from "./features.ts";
import { keyOf, namesIn, parts } from "./keys.ts";
import { mergedMembers } from "./members.ts";
import { keysLike } from "./scan.ts";
import { scriptIn } from "./script.ts";
import type { Servers } from "./servers.ts";
import { usesIn } from "./uses.ts";

const keysAtATime = 16;
const runCount = scriptIn("count.lua");

/** The resources and features of each kind of resource. */
export function directoryOf(servers: Servers): Directory {
  const usesOf = usesIn(servers);
  return {
    async idsWith(resource, feature, after, limit) {
      const members = mergedMembers(servers, ["with", resource, feature], { after, limit });
      return (await takeFrom(members, limit)).map(([{ name }]) => name);
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
      for await (const { feature, parts } of usesOf(resource, after?.feature, limit)) {
        const wanted = {
          limit: limit - entries.length,
          parts,
          ...(feature === after?.feature && { after: after.id }),
        };
        const members = mergedMembers(servers, ["with", resource, feature], wanted);
        for (const [{ name: id, expiresAt }] of await takeFrom(members, wanted.limit))
          entries.push({ resource, id, feature, ...(expiresAt !== undefined && { expiresAt }) });
        if (entries.length === limit) break;
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

/** The first items of a sequence. */
async function takeFrom<Item>(items: AsyncIterable<Item>, count: number): Promise<Item[]> {
  const taken: Item[] = [];
  for await (const item of items) if (taken.push(item) >= count) break;
  return taken;
}
