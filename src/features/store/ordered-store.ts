import { createHash, randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { inOrder, isLive, type Placed, withoutPlace } from "./placed.ts";
import { type Change, type Entry, type FeatureStore, StoreFailure, type Wish } from "./store.ts";

/** Values by text, in the order of the texts. */
export interface OrderedMap extends AsyncDisposable {
  /** Does the work on all that is kept by now, whoever wrote it, and on nothing that is written meanwhile. */
  read<Result>(work: () => Result): Result;
  /** Only within `read` or `write`. */
  get<Value>(key: string): Value | undefined;
  /** The values whose keys lie between the two, the first of these included. Only within `read` or `write`. */
  range<Value>(start: string, end: string): Iterable<Value>;
  /** Does the work when nobody else is writing; resolves when what it has put and removed is kept. */
  write<Result>(work: () => Result): Promise<Result>;
  /** Only within `write`. */
  put(key: string, value: unknown): void;
  /** Only within `write`. */
  remove(key: string): void;
}

/** The changes that are kept, by number. Who empties the store begins another log. */
interface Log {
  id: string;
  first: number;
  last: number;
}

/** Expiries that are told in one step. */
const expiriesAtOnce = 1000;

/** A feature store in an ordered map that its processes have to themselves. */
export async function openOrderedStore(map: OrderedMap, changesKept: number): Promise<FeatureStore> {
  await map.write(() => {
    if (!map.get(logKey)) map.put(logKey, { id: randomUUID().slice(0, 8), first: 1, last: 0 } satisfies Log);
  });
  const log = () => map.get(logKey) as Log;
  const entriesOf = (resource: string, id: string) =>
    inOrder([...map.range<Placed>(...within("of", resource, id))]);
  const namesOf = (resource: string, id: string) => entriesOf(resource, id).map(({ feature }) => feature);
  const due = () => Iterator.from(map.range<Placed>(...upTo("due", Date.now()))).take(expiriesAtOnce);
  const isAnyDue = () => due().some(() => true);

  function record(change: Change): number {
    const { id, first, last } = log();
    const number = last + 1;
    const oldest = Math.max(first, number - changesKept + 1);
    for (let gone = first; gone < oldest; gone++) map.remove(keyOf("change", digits(gone)));
    map.put(keyOf("change", digits(number)), change);
    map.put(logKey, { id, first: oldest, last: number } satisfies Log);
    return number;
  }

  function drop(entry: Placed, type: "removed" | "expired", at: number): void {
    for (const key of keysOf(entry)) map.remove(key);
    const { resource, id, feature } = entry;
    record({ type, at, resource, id, feature });
  }

  function fulfil(resource: string, id: string, wish: Wish): boolean {
    const { type, feature } = wish;
    const at = Date.now();
    let entry = map.get<Placed>(keyOf("of", resource, id, feature));
    if (entry && !isLive(entry)) {
      drop(entry, "expired", entry.expiresAt as number);
      entry = undefined;
    }
    if (type === "remove") {
      if (entry) drop(entry, "removed", at);
      return entry !== undefined;
    }
    const { expiresAt } = wish;
    if (entry && entry.expiresAt === expiresAt) return true;
    for (const key of entry ? keysOf(entry) : []) map.remove(key);
    const added: Entry = { resource, id, feature, ...(expiresAt !== undefined && { expiresAt }) };
    const number = record({ type: "added", at, ...added });
    const placed: Placed = { ...added, place: entry?.place ?? number };
    for (const key of keysOf(placed)) map.put(key, placed);
    return entry !== undefined;
  }

  /** Tells of every feature whose time has come; later, where nothing can be written now: what is there can be read. */
  async function expire(): Promise<void> {
    try {
      while (map.read(isAnyDue)) {
        await map.write(() => {
          for (const entry of due().toArray()) drop(entry, "expired", entry.expiresAt as number);
        });
      }
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error;
    }
  }

  return {
    async list(resource, id) {
      return map.read(() => namesOf(resource, id));
    },
    async has(resource, id, feature) {
      const entry = map.read(() => map.get<Placed>(keyOf("of", resource, id, feature)));
      return entry !== undefined && isLive(entry);
    },
    change: (resource, id, wishes, onlyIf) =>
      map.write(() =>
        onlyIf && !isDeepStrictEqual(namesOf(resource, id), onlyIf)
          ? undefined
          : wishes.map((wish) => fulfil(resource, id, wish)),
      ),
    async idsWith(resource, feature, after, limit) {
      const [start, end] = within("with", resource, feature);
      const from = after === undefined ? start : keyOf("with", resource, feature, after);
      return map.read(() =>
        Iterator.from(map.range<Placed>(from, end))
          .filter((entry) => isLive(entry) && entry.id !== after)
          .take(limit)
          .map(({ id }) => id)
          .toArray(),
      );
    },
    async changes(after, limit) {
      await expire();
      return map.read(() => {
        const { id, first, last } = log();
        const number = after === undefined ? first - 1 : numberOf(after, id);
        if (number === undefined || number < first - 1 || number > last) return undefined;
        const range = [number + 1, number + limit + 1].map((end) => keyOf("change", digits(end)));
        const changes = map.range<Change>(...(range as [string, string]));
        return [...changes].map((change, index) => ({ change, cursor: cursorOf(id, number + 1 + index) }));
      });
    },
    async newest() {
      await expire();
      const { id, last } = map.read(log);
      return cursorOf(id, last);
    },
    async *entries() {
      let [from, end] = within("of");
      // A resource at a time, since the map may be changed while its caller is at work.
      for (;;) {
        const [next, entries = []] = map.read(() => {
          const [first] = Iterator.from(map.range<Placed>(from, end)).take(1);
          return first ? [first, entriesOf(first.resource, first.id)] : [];
        });
        if (!next) return;
        yield* entries.map(withoutPlace);
        [, from] = within("of", next.resource, next.id);
      }
    },
    [Symbol.asyncDispose]: () => map[Symbol.asyncDispose](),
  };
}

/** Names hold no control characters, so neither this nor the one behind it can be in a name. */
const separator = "\t";
const behindSeparator = "\n";

/** Bytes of a name that keys hold: four of them and what is between are less than engines take. */
const partMax = 480;

/** A name as a part of a key; a long one by its hash, which begins as no name can. */
function partOf(name: string): string {
  if (name.length <= partMax / 4 || Buffer.byteLength(name) <= partMax) return name;
  return `\u0001${createHash("sha256").update(name).digest("base64url")}`;
}

function keyOf(...parts: string[]): string {
  let key = "";
  for (const part of parts) key += key === "" ? part : separator + partOf(part);
  return key;
}
const within = (...parts: string[]): [start: string, end: string] => [
  keyOf(...parts) + separator,
  keyOf(...parts) + behindSeparator,
];
const upTo = (name: string, time: number): [start: string, end: string] => [
  keyOf(name, ""),
  keyOf(name, digits(time + 1)),
];

/** Numbers in the order of their texts. */
const digits = (number: number) => String(number).padStart(16, "0");

const logKey = keyOf("log");

/** The keys under which an entry is kept: by resource, by feature, and by the time when it goes. */
const keysOf = ({ resource, id, feature, expiresAt, place }: Placed): string[] => [
  keyOf("of", resource, id, feature),
  keyOf("with", resource, feature, id),
  ...(expiresAt === undefined ? [] : [keyOf("due", digits(expiresAt), digits(place))]),
];

const cursorOf = (logId: string, number: number) => `${logId}-${number}`;

/** The number of the change that a cursor of this log stands behind. */
function numberOf(cursor: string, logId: string): number | undefined {
  const [, id, number] = /^(\w+)-(0|[1-9]\d{0,14})$/.exec(cursor) ?? [];
  return id === logId ? Number(number) : undefined;
}
