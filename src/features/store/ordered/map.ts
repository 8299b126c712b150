/** Values by key, ordered by the UTF-8 of the keys. */
export interface OrderedMap extends AsyncDisposable {
  /** Runs `work` on a snapshot of everything that any process has written so far. */
  read<Result>(work: () => Result): Result;
  /** Within `read` or `write` only. */
  get<Value>(key: string): Value | undefined;
  /** The values with keys from `start` to before `end`. Within `read` or `write` only. */
  range<Value>(start: string, end: string): Iterable<Value>;
  /** The value with the last key from `start` to before `end`. Within `read` or `write` only. */
  last<Value>(start: string, end: string): Value | undefined;
  /** The number of keys from `start` to before `end`. Within `read` or `write` only. */
  count(start: string, end: string): number;
  /** Runs `work` as the only writer. Resolves when what `work` has put and removed is durable. */
  write<Result>(work: () => Result): Promise<Result>;
  /** The same before the store is in use, however long it takes. */
  migrate<Result>(work: () => Result): Promise<Result>;
  /** Within `write` only. */
  put(key: string, value: unknown): void;
  /** Within `write` only. */
  remove(key: string): void;
}
