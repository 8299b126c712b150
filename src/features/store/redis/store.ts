import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Address } from "../../../process/adapter.ts";
import { sharedNext } from "../../../process/shared.ts";
import { letOthersRun } from "../../../process/turns.ts";
import { changeMany } from "../change-many.ts";
import { eachInTurns } from "../in-turns.ts";
import {
  type ChangeOutcome,
  type Entry,
  type FeatureChange,
  type FeatureStore,
  featuresMax,
  type StoreParameters,
} from "../store.ts";
import { isLive, liveInOrder, type StoredEntry, withoutPlace } from "../stored-entry.ts";
import { changeLogIn, shareOf } from "./change-log.ts";
import { afterId, keyOf, namesIn, pairs, partOf, parts, readEntry, readMember } from "./keys.ts";
import { type Command, errorMessageOf, openServers, type Servers } from "./servers.ts";

/** Maximum number of expiries in one step, for each part. */
const expiriesPerPart = 25;
const keysPerScan = 500;
const keysAtATime = 16;
/** Number of fields and values of a list that is read in a turn of its own. */
const longList = 200;
/** Redis 7.0 counts fields and values. With this number a list of `featuresMax` is always read at once. */
const fieldsPerScan = 4 * featuresMax;
/** Maximum number of members of a sorted set that are read at once, and the number that is read in a turn of its own. */
const membersPerRead = 500;
const manyMembers = 50;

const script = readFileSync(new URL("./change.lua", import.meta.url), "utf8");
const scriptDigest = createHash("sha1").update(script).digest("hex");

/**
 * A store in a Redis or a Redis Cluster. All keys of a resource are in one part (`keys.ts`), so that one script can
 * change them atomically (`change.lua`). Names in keys are percent-encoded. The keys of a part:
 *
 *     features:{3/16}:of:RESOURCE/ID          hash: feature -> place and expiry time
 *     features:{3/16}:with:RESOURCE/FEATURE   sorted set without scores: id, and after \0 the expiry time
 *     features:{3/16}:due                     sorted set by expiry time: [resource, id, feature]
 *     features:{3/16}:changes                 stream: the change records, numbered from 0-1. A place is such a number
 *     features:{3/16}:log                     id of the stream, new when the part was emptied
 */
export async function open({ url, others, parameters }: Address<StoreParameters>): Promise<FeatureStore> {
  const servers = await openServers([url, ...others]);
  const log = changeLogIn(servers);
  const change = changeWith(servers, parameters.changes);
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
    idsWith: (resource, feature, after, limit) => idsWith(servers, resource, feature, after, limit),
    async changes(after, limit, until) {
      await expire();
      return log.after(after, limit, until);
    },
    newest,
    expire,
    async *entries() {
      const seen = new Set<string>();
      let cursor = "0";
      do {
        const match = ["MATCH", "features:*:of:*", "COUNT", String(keysPerScan)];
        const [next, keys]: ScanPage = await servers.send(undefined, ["SCAN", cursor, ...match]);
        const fresh = new Set(keys).difference(seen);
        const groups: Entry[][] = [];
        await eachInTurns(fresh, keysAtATime, async (key) => {
          groups.push(await list(...(namesIn(key) as [resource: string, id: string])));
        });
        for (const key of fresh) seen.add(key);
        yield* groups.flat();
        cursor = next;
      } while (cursor !== "0");
    },
    async [Symbol.asyncDispose]() {
      servers[Symbol.dispose]();
    },
  };
}

/** A page of SCAN or HSCAN, which can return an item twice, and the cursor of the next page; 0 after the last one. */
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
      ...changes.map(({ feature }) => keyOf(part, "with", resource, feature)),
    ];
    const request = { now: Date.now(), kept, max: featuresMax, resource, id, onlyIf, changes };
    const args = [String(keys.length), ...keys, JSON.stringify(request, numberToText)];
    const run = (command: Command) => servers.send<ScriptResult>(part, [...command, ...args]);
    return await run(["EVALSHA", scriptDigest]).catch((error) => {
      if (errorMessageOf(error).startsWith("NOSCRIPT")) return run(["EVAL", script]);
      throw error;
    });
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

/** See `FeatureStore.idsWith`. Reads the sorted sets of all parts and merges them. */
async function idsWith(
  servers: Servers,
  resource: string,
  feature: string,
  after: string | undefined,
  limit: number,
): Promise<string[]> {
  const ids: string[] = [];
  const readers = parts.map((part) => {
    const key = keyOf(part, "with", resource, feature);
    const start = after === undefined ? "-" : `(${afterId(after)}`;
    return memberReader(servers, part, key, start, shareOf(limit));
  });
  while (ids.length < limit) {
    await Promise.all(readers.map((reader) => reader.fill()));
    const waiting = readers.filter(({ live }) => live.length > 0);
    if (waiting.length === 0) break;
    // The first of all is next, as long as the first of each part is known.
    while (ids.length < limit && waiting.every(({ live }) => live.length > 0)) {
      const { live } = waiting.reduce((one, other) => (isBefore(other.live, one.live) ? other : one));
      ids.push((live.shift() as LiveId).id);
    }
  }
  return ids;
}

/** An id, also in the encoding that Redis sorts by. */
interface LiveId {
  id: string;
  bytes: Buffer;
}

/** Reads the ids in one sorted set that have not expired, in pieces that get larger. */
function memberReader(servers: Servers, part: number, key: string, start: string, count: number) {
  const live: LiveId[] = [];
  let from: string | undefined = start;
  let size = count;
  return {
    live,
    /** Reads on if no member is left, up to a live one or the end. */
    async fill(): Promise<void> {
      while (live.length === 0 && from !== undefined) {
        const command: Command = ["ZRANGEBYLEX", key, from, "+", "LIMIT", "0", String(size)];
        const members = await servers.send<string[]>(part, command);
        if (members.length > manyMembers) await letOthersRun();
        for (const { id } of members.map(readMember).filter(isLive))
          live.push({ id, bytes: Buffer.from(id) });
        const last = members.length < size ? undefined : members.at(-1);
        from = last && `(${afterId(readMember(last).id)}`;
        size = Math.min(4 * size, membersPerRead);
      }
    },
  };
}

/** The order of Redis is by bytes, that of JavaScript by UTF-16 code units. */
const isBefore = ([one]: LiveId[], [other]: LiveId[]) =>
  Buffer.compare((one as LiveId).bytes, (other as LiveId).bytes) < 0;
