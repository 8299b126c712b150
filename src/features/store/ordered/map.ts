import { letOthersRun } from "../../../waiting/turns.ts";

/** The keys from `start` to before `end`. */
export type Range = [start: string, end: string];

/** Values by key, ordered by the UTF-8 of the keys. */
export interface OrderedMap extends AsyncDisposable {
  /** Runs `work` on a snapshot of everything that any process has written so far. */
  read<Result>(work: () => Result): Result;
  /** Within `read` or `write` only. */
  get<Value>(key: string): Value | undefined;
  /** The values in a range. Within `read` or `write` only. */
  range<Value>(...range: Range): Iterable<Value>;
  /** The value with the last key in a range. Within `read` or `write` only. */
  last<Value>(...range: Range): Value | undefined;
  /** The number of keys in a range. Within `read` or `write` only. */
  count(...range: Range): number;
  /** Runs `work` as the only writer. Resolves when what `work` has put and removed is durable. */
  write<Result>(work: () => Result): Promise<Result>;
  /** The same before the store is in use, however long it takes. */
  migrate<Result>(work: () => Result): Promise<Result>;
  /** Within `write` only. */
  put(key: string, value: unknown): void;
  /** Within `write` only. */
  remove(key: string): void;
}

/** The first values in a range, up to `size`. Within `read` or `write` only. */
export const firstIn = <Value>(map: OrderedMap, range: Range, size: number): Value[] =>
  Iterator.from(map.range<Value>(...range))
    .take(size)
    .toArray();

/** The values in a range, in chunks of up to `size`. Each chunk is read on a snapshot of its own, and others run in between. */
export async function* chunksOf<Value>(
  map: OrderedMap,
  [start, end]: Range,
  keyIn: (value: Value) => string,
  size: number,
): AsyncGenerator<Value[]> {
  for (let from = start; ; ) {
    const chunk = map.read(() => firstIn<Value>(map, [from, end], size));
    yield chunk;
    const last = chunk.at(-1);
    if (last === undefined || chunk.length < size) return;
    from = keyAfter(keyIn(last));
    await letOthersRun();
  }
}

/** The smallest key after a key. */
export const keyAfter = (key: string) => `${key}\u0000`;
