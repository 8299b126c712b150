import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { changeMany } from "./change-many.ts";
import { inOrder, isLive, type Placed, withoutPlace } from "./placed.ts";
import { type Command, openServers, parts, tagOf, wordsOf } from "./redis-servers.ts";
import { type Change, changesKept, type FeatureStore, type Wish } from "./store.ts";

/** Those whose expiry is told in one step, in each part. */
const expiriesAtOnce = 200;
/** What is read at a time from each part, so that mostly all of them together are enough. */
const shareOf = (limit: number) => Math.ceil((2 * limit) / parts.length) + 10;
const keysAtOnce = 500;

const script = readFileSync(new URL("./redis-change.lua", import.meta.url), "utf8");
const scriptDigest = createHash("sha1").update(script).digest("hex");

/** A change with its number in its part. */
interface Numbered {
  number: number;
  change: Change;
}

/**
 * In a Redis, or a Redis Cluster. A resource has all its keys in one part (`redis-servers.ts`), so that one script can
 * change them in one step (`redis-change.lua`). Names in keys are percent-encoded. The keys of a part:
 *
 *     features:{3/16}:of:RESOURCE/ID          hash: a feature; its place, and the time when it expires
 *     features:{3/16}:with:RESOURCE/FEATURE   sorted set without scores: an id, and behind \0 the time when it expires
 *     features:{3/16}:due                     sorted set by time: [resource, id, feature]
 *     features:{3/16}:changes                 stream: the changes, numbered from 0-1. A place is such a number
 *     features:{3/16}:log                     what tells these changes from those before the part was emptied
 */
export async function open(url: URL, others: URL[] = []): Promise<FeatureStore> {
  const servers = await openServers([url, ...others]);
  const kept = String(changesKept(url));
  const ofAllParts = <Result>(work: (part: number) => Promise<Result>) => Promise.all(parts.map(work));

  async function entriesOf(resource: string, id: string): Promise<Placed[]> {
    const part = partOf(resource, id);
    const fields = await servers.ask<string[]>(part, ["HGETALL", keyOf(part, "of", resource, id)]);
    return inOrder(pairs(fields).map(([feature, value]) => ({ resource, id, feature, ...read(value) })));
  }

  async function change(
    resource: string,
    id: string,
    wishes: (Wish | { type: "expire"; feature: string })[],
    onlyIf?: string[],
  ): Promise<boolean[] | undefined> {
    const part = partOf(resource, id);
    const keys = [
      keyOf(part, "of", resource, id),
      keyOf(part, "due"),
      keyOf(part, "changes"),
      ...wishes.map(({ feature }) => keyOf(part, "with", resource, feature)),
    ];
    const asked = { now: Date.now(), kept, resource, id, onlyIf, wishes };
    const args = [String(keys.length), ...keys, JSON.stringify(asked, numbersAsTexts)];
    const run = (command: Command) => servers.ask<number[] | null>(part, [...command, ...args]);
    const had = await run(["EVALSHA", scriptDigest]).catch((error) => {
      if (wordsOf(error).startsWith("NOSCRIPT")) return run(["EVAL", script]);
      throw error;
    });
    return had?.map(Boolean);
  }

  /** Tells of every feature whose time has come. */
  async function expire(): Promise<void> {
    const now = String(Date.now());
    await ofAllParts(async (part) => {
      for (;;) {
        const range = ["-inf", now, "LIMIT", "0", String(expiriesAtOnce)];
        const due = await servers.ask<string[]>(part, ["ZRANGEBYSCORE", keyOf(part, "due"), ...range]);
        if (due.length === 0) return;
        const wishes = due.map((member) => {
          const [resource, id, feature] = JSON.parse(member);
          return { type: "expire" as const, resource, id, feature };
        });
        await changeMany(change, wishes);
      }
    });
  }

  async function logOf(part: number): Promise<string> {
    const key = keyOf(part, "log");
    const there = await servers.ask<string | null>(part, ["GET", key]);
    if (there !== null) return there;
    const made = randomUUID();
    return (await servers.ask<string | null>(part, ["SET", key, made, "NX", "GET"])) ?? made;
  }

  async function lastOf(part: number): Promise<number> {
    const newest: Command = ["XREVRANGE", keyOf(part, "changes"), "+", "-", "COUNT", "1"];
    const [last] = await servers.ask<StreamEntry[]>(part, newest);
    return last ? numberOf(last) : 0;
  }

  /** The changes of a part behind the one of a number, or from the oldest on; undefined when one of them is forgotten. */
  async function changesOf(part: number, after: number | undefined, limit: number) {
    const range = [after === undefined ? "-" : `(0-${after}`, "+", "COUNT", String(limit)];
    // The newest is asked for first: others may come in between.
    const [last, entries] = await Promise.all([
      lastOf(part),
      servers.ask<StreamEntry[]>(part, ["XRANGE", keyOf(part, "changes"), ...range]),
    ]);
    const changes = entries.map((entry) => ({ number: numberOf(entry), change: changeIn(entry) }));
    const first = changes[0]?.number ?? last + 1;
    const position = after ?? first - 1;
    if (position > last || (changes.length > 0 && first !== position + 1)) return undefined;
    return { position, changes };
  }

  return {
    async list(resource, id) {
      return (await entriesOf(resource, id)).map(({ feature }) => feature);
    },
    async has(resource, id, feature) {
      const part = partOf(resource, id);
      const value = await servers.ask<string | null>(part, [
        "HGET",
        keyOf(part, "of", resource, id),
        feature,
      ]);
      return value !== null && isLive(read(value));
    },
    change,
    async idsWith(resource, feature, after, limit) {
      const ids: string[] = [];
      const count = shareOf(limit);
      for (let from = after; ids.length < limit; ) {
        const start = from === undefined ? "-" : `(${from}${behindExpiry}`;
        const range = [start, "+", "LIMIT", "0", String(count)];
        const read = await ofAllParts(async (part) => {
          const key = keyOf(part, "with", resource, feature);
          return (await servers.ask<string[]>(part, ["ZRANGEBYLEX", key, ...range])).map(memberIn);
        });
        // Up to the first of their last ones, no part has any that is not read.
        const lasts = read
          .filter(({ length }) => length === count)
          .map((members) => members.at(-1) as Member);
        const [end] = lasts.sort(byBytes);
        const found = read.flat().filter((member) => isLive(member) && !(end && byBytes(end, member) < 0));
        ids.push(...found.sort(byBytes).map(({ id }) => id));
        if (!end) break;
        from = end.id;
      }
      return ids.slice(0, limit);
    },
    async changes(after, limit) {
      const cursor = after === undefined ? undefined : cursorIn(after);
      if (after !== undefined && !cursor) return undefined;
      await expire();
      const log = digestOf(await ofAllParts(logOf));
      if (cursor && cursor.log !== log) return undefined;
      let positions: (number | undefined)[] = cursor?.positions ?? parts.map(() => undefined);
      const page: { change: Change; cursor: string }[] = [];
      for (const count = shareOf(limit); page.length < limit; ) {
        const read = await ofAllParts((part) => changesOf(part, positions[part], count));
        const found = read.filter((one) => one !== undefined);
        if (found.length < parts.length) return undefined;
        const reached = found.map(({ position }) => position);
        for (const { part, number, change } of merge(found.map(({ changes }) => changes))) {
          reached[part] = number;
          page.push({ change, cursor: cursorOf(log, reached) });
          // What comes next of this part is not read, and may be older than that of others.
          if (number === found[part]?.changes.at(-1)?.number && found[part]?.changes.length === count) break;
          if (page.length === limit) break;
        }
        positions = reached;
        if (found.every(({ changes }) => changes.length < count)) break;
      }
      return page;
    },
    async newest() {
      await expire();
      const [logs, positions] = await Promise.all([ofAllParts(logOf), ofAllParts(lastOf)]);
      return cursorOf(digestOf(logs), positions);
    },
    async *entries() {
      // A walk through keys may come by one twice.
      const told = new Set<string>();
      let walk = "0";
      do {
        const match = ["MATCH", "features:*:of:*", "COUNT", String(keysAtOnce)];
        const [next, keys] = await servers.ask<[string, string[]]>(undefined, ["SCAN", walk, ...match]);
        const fresh = [...new Set(keys)].filter((key) => !told.has(key));
        const groups = await Promise.all(
          fresh.map((key) => entriesOf(...(namesIn(key) as [resource: string, id: string]))),
        );
        for (const key of fresh) told.add(key);
        yield* groups.flat().map(withoutPlace);
        walk = next;
      } while (walk !== "0");
    },
    async [Symbol.asyncDispose]() {
      servers[Symbol.dispose]();
    },
  };
}

/** Names hold no control characters. */
const partOf = (resource: string, id: string) => crc32(`${resource}\t${id}`) % parts.length;

/** Encoded, names hold neither what separates them here nor the braces of a hash tag. */
function keyOf(part: number, kind: string, ...names: string[]): string {
  const key = `features:${tagOf(part)}:${kind}`;
  return names.length === 0 ? key : `${key}:${names.map(encodeURIComponent).join("/")}`;
}
const namesIn = (key: string) => key.split(":").at(-1)?.split("/").map(decodeURIComponent);

const numbersAsTexts = (_name: string, value: unknown) => (typeof value === "number" ? String(value) : value);

const pairs = (fields: string[]) =>
  Array.from(
    { length: fields.length / 2 },
    (_, index) => fields.slice(2 * index, 2 * index + 2) as [string, string],
  );

function read(value: string): { place: number; expiresAt?: number } {
  const [place, expiresAt] = value.split(" ");
  return { place: Number(place), ...(expiresAt && { expiresAt: Number(expiresAt) }) };
}

/** No id holds a control character: so all that begins with an id and its expiry lies before this. */
const behindExpiry = "\u0001";

interface Member {
  id: string;
  expiresAt?: number;
  bytes: Buffer;
}

function memberIn(member: string): Member {
  const [id = "", expiresAt] = member.split("\0");
  return { id, bytes: Buffer.from(id), ...(expiresAt && { expiresAt: Number(expiresAt) }) };
}

/** The order of Redis, which is not that of texts here. */
const byBytes = (one: Member, other: Member) => Buffer.compare(one.bytes, other.bytes);

type StreamEntry = [id: string, fields: string[]];

const numberOf = ([id]: StreamEntry) => Number(id.slice("0-".length));

function changeIn([, fields]: StreamEntry): Change {
  const { at, expiresAt, ...told } = Object.fromEntries(pairs(fields)) as Record<string, string>;
  return {
    ...(told as unknown as Change),
    at: Number(at),
    ...(expiresAt && { expiresAt: Number(expiresAt) }),
  };
}

/** The changes of all parts, the oldest first as far as the order within the parts allows. */
function* merge(changes: Numbered[][]): Generator<Numbered & { part: number }> {
  const next = changes.map(() => 0);
  for (;;) {
    const heads = parts.flatMap((part) => {
      const head = changes[part]?.[next[part] as number];
      return head ? [{ part, ...head }] : [];
    });
    const [first, ...rest] = heads;
    if (!first) return;
    const oldest = rest.reduce((one, other) => (other.change.at < one.change.at ? other : one), first);
    next[oldest.part] = (next[oldest.part] as number) + 1;
    yield oldest;
  }
}

const digestOf = (logs: string[]) => createHash("sha256").update(logs.join()).digest("hex").slice(0, 8);

const cursorOf = (log: string, positions: number[]) =>
  [log, ...positions.map((position) => position.toString(36))].join(".");

function cursorIn(text: string): { log: string; positions: number[] } | undefined {
  const [log = "", ...numbers] = text.split(".");
  const isOurs =
    numbers.length === parts.length && numbers.every((number) => /^(0|[1-9a-z]\w{0,9})$/.test(number));
  return isOurs ? { log, positions: numbers.map((number) => Number.parseInt(number, 36)) } : undefined;
}
