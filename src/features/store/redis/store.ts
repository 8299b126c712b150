import type { Address } from "../../../engines/adapter.ts";
import { sharedNext } from "../../../waiting/shared.ts";
import { eachInTurns, letOthersRun } from "../../../waiting/turns.ts";
import { changeMany } from "../change-many.ts";
import { type RedisParameters, recordsKept } from "../parameters.ts";
import {
  type ChangeOutcome,
  type Entry,
  type FeatureChange,
  type FeatureStore,
  featuresMax,
} from "../store.ts";
import { isLive, liveInOrder, type StoredEntry, withoutPlace } from "../stored-entry.ts";
import { changeLogIn } from "./change-log.ts";
import { keyOf, namesIn, pairs, partOf, parts, readEntry } from "./keys.ts";
import { mergedMembers } from "./members.ts";
import { keysLike } from "./scan.ts";
import { scriptIn } from "./script.ts";
import { type Command, openServers, type Servers } from "./servers.ts";
import { usesIn } from "./uses.ts";

/** Maximum number of expiries in one step, for each part. */
const expiriesPerPart = 25;
const keysAtATime = 16;
/** Number of fields and values of a list that is read in a turn of its own. */
const longList = 200;
/** Redis 7.0 counts fields and values. With this number a list of `featuresMax` is always read at once. */
const fieldsPerScan = 4 * featuresMax;

const runChange = scriptIn("change.lua");
const runCount = scriptIn("count.lua");

/**
 * A store in a Redis or a Redis Cluster. All keys of a resource are in one part (`keys.ts`), so that one script can
 * change them atomically (`change.lua`). Names in keys are percent-encoded. The keys of a part:
 *
 *     features:{3/16}:of:RESOURCE/ID          hash: feature -> place and expiry time
 *     features:{3/16}:with:RESOURCE/FEATURE   sorted set without scores: id, and after \0 the expiry time
 *     features:{3/16}:used:RESOURCE           sorted set without scores: the features of which there is a `with`
 *     features:{3/16}:indexed                 present if `used` is complete; an earlier release did not write it
 *     features:{3/16}:due                     sorted set by expiry time: [resource, id, feature]
 *     features:{3/16}:changes                 stream: the change records, numbered from 0-1. A place is such a number
 *     features:{3/16}:log                     id of the stream, new when the part was emptied
 */
export async function open({ url, others, parameters }: Address<RedisParameters>): Promise<FeatureStore> {
  const servers = await openServers([url, ...others], parameters.server_name);
  const log = changeLogIn(servers);
  const change = changeWith(servers, recordsKept(parameters));
  const uses = usesIn(servers);
  const expire = sharedNext(() => expireSome(servers, change));
  const newest = sharedNext(async () => {
    await expire();
    return await log.newest();
  });

  async function list(resource: string, id: string): Promise<Entry[]> {
    const part = partOf(resource, id);
    const key = keyOf(part, "of", resource, id);
    const entries = new Map<string, StoredEntry>();
    for (let cursor: string | undefined = "0"; cursor; ) {
      const command: Command = ["HSCAN", key, cursor, "COUNT", String(fieldsPerScan)];
      const [next, fields]: ScanPage = await servers.send(part, command);
      // Many long lists can arrive at the same time.
      if (fields.length > longList) await letOthersRun();
      for (const [feature, value] of pairs(fields)) {
        entries.set(feature, { resource, id, feature, ...readEntry(value) });
      }
      cursor = next === "0" ? undefined : next;
    }
    return liveInOrder([...entries.values()]).map(withoutPlace);
  }

  return {
    list,
    async has(resource, id, features) {
      const part = partOf(resource, id);
      const command: Command = ["HMGET", keyOf(part, "of", resource, id), ...features];
      const values = await servers.send<(string | null)[]>(part, command);
      return values.map((value) => value !== null && isLive(readEntry(value)));
    },
    change,
    async idsWith(resource, feature, after, limit) {
      const sources = parts.map((part) => ({ part, key: keyOf(part, "with", resource, feature) }));
      const members = mergedMembers(servers, sources, { after, limit });
      return (await takeFrom(members, limit)).map(({ name }) => name);
    },
    async count(resource, feature) {
      const counts = parts.map((part) => {
        const keys = [keyOf(part, "with", resource, feature), keyOf(part, "due")];
        return runCount<number>(servers, part, keys, [String(Date.now()), resource, feature]);
      });
      return (await Promise.all(counts)).reduce((sum, one) => sum + one);
    },
    featuresInUse: async (resource, limit) =>
      (await takeFrom(uses.of(resource, undefined, limit), limit)).map(({ feature }) => feature),
    async entriesOf(resource, after, limit) {
      const entries: Entry[] = [];
      for await (const { feature, parts } of uses.of(resource, after?.feature, limit)) {
        const sources = parts.map((part) => ({ part, key: keyOf(part, "with", resource, feature) }));
        const position = feature === after?.feature ? { after: after.id } : {};
        const members = mergedMembers(servers, sources, { ...position, limit: limit - entries.length });
        for (const { name: id, expiresAt } of await takeFrom(members, limit - entries.length))
          entries.push({ resource, id, feature, ...(expiresAt !== undefined && { expiresAt }) });
        if (entries.length === limit) break;
      }
      return entries;
    },
    history: undefined,
    async changes(after, limit, until) {
      await expire();
      return log.after(after, limit, until);
    },
    newest,
    expire,
    async *entries() {
      const seen = new Set<string>();
      for await (const keys of keysLike(servers, "features:*:of:*")) {
        const fresh = new Set(keys).difference(seen);
        const groups: Entry[][] = [];
        await eachInTurns(fresh, keysAtATime, async (key) => {
          groups.push(await list(...(namesIn(key) as [resource: string, id: string])));
        });
        for (const key of fresh) seen.add(key);
        yield* groups.flat();
      }
    },
    async [Symbol.asyncDispose]() {
      servers[Symbol.dispose]();
    },
  };
}

/** A page of HSCAN, which can return an item twice, and the cursor of the next page; 0 after the last one. */
type ScanPage = [next: string, items: string[]];

type ScriptChange = FeatureChange | { type: "expire"; feature: string };
type MakeChanges = (
  resource: string,
  id: string,
  changes: ScriptChange[],
  onlyIf?: string[],
) => Promise<ChangeOutcome>;

/** `FeatureStore.change`, which also takes expiries. */
function changeWith(servers: Servers, kept: number): MakeChanges {
  async function runScript(resource: string, id: string, changes: ScriptChange[], onlyIf?: string[]) {
    const part = partOf(resource, id);
    const keys = [
      keyOf(part, "of", resource, id),
      keyOf(part, "due"),
      keyOf(part, "changes"),
      keyOf(part, "used", resource),
      ...changes.map(({ feature }) => keyOf(part, "with", resource, feature)),
    ];
    const request = { now: Date.now(), kept, max: featuresMax, resource, id, onlyIf, changes };
    return await runChange<ScriptResult>(servers, part, keys, [JSON.stringify(request, numberToText)]);
  }

  const change: MakeChanges = async (resource, id, changes, onlyIf) => {
    for (;;) {
      const [outcome, ...results] = await runScript(resource, id, changes, onlyIf);
      if (outcome === "had") return { had: results.map(Boolean) };
      if (outcome !== "expired") return { rejected: outcome };
      const expiries = results.map((feature) => ({ type: "expire" as const, feature: String(feature) }));
      await change(resource, id, expiries);
    }
  };
  return change;
}

/** See `change.lua`. */
type ScriptResult = [
  outcome: "had" | "expired" | "list differs" | "too many features",
  ...results: (number | string)[],
];

const numberToText = (_name: string, value: unknown) => (typeof value === "number" ? String(value) : value);

/** See `FeatureStore.expire`. */
async function expireSome(servers: Servers, change: MakeChanges): Promise<boolean> {
  const range = ["-inf", String(Date.now()), "LIMIT", "0", String(expiriesPerPart)];
  const due = await Promise.all(
    parts.map((part) => servers.send<string[]>(part, ["ZRANGEBYSCORE", keyOf(part, "due"), ...range])),
  );
  const expiries = due.flat().map((member) => {
    const [resource, id, feature] = JSON.parse(member);
    return { type: "expire" as const, resource, id, feature };
  });
  await changeMany(change, expiries);
  return due.some(({ length }) => length === expiriesPerPart);
}

/** The first items of a sequence. */
async function takeFrom<Item>(items: AsyncIterable<Item>, count: number): Promise<Item[]> {
  const taken: Item[] = [];
  for await (const item of items) if (taken.push(item) >= count) break;
  return taken;
}
