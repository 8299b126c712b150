import trees from "sorted-btree";
import type { Address } from "../../../engines/adapter.ts";
import { recordsKept, type StoreParameters } from "../parameters.ts";
import type { FeatureStore } from "../store.ts";
import type { OrderedMap } from "./map.ts";
import { openOrderedStore } from "./store.ts";

/** A store in the memory of this process. Its data ends with the process. */
export const open = ({ parameters }: Address<StoreParameters>): Promise<FeatureStore> =>
  openOrderedStore(orderedMap(), recordsKept(parameters));

/** Values are found by a hash of their key, which with many keys takes a fraction of the time of a tree. */
export function orderedMap(): OrderedMap {
  const values = new Map<string, unknown>();
  const keys = new trees.default<string, undefined>(undefined, (one, other) =>
    one < other ? -1 : one > other ? 1 : 0,
  );
  const write: OrderedMap["write"] = async (work) => work();
  return {
    read: (work) => work(),
    get: (key) => values.get(key) as never,
    *range(start, end) {
      for (const key of keys.keys(start)) {
        if (key >= end) return;
        yield values.get(key) as never;
      }
    },
    last(start, end) {
      const key = keys.nextLowerKey(end) ?? "";
      return key >= start ? (values.get(key) as never) : undefined;
    },
    count: (start, end) => keys.forRange(start, end, false),
    write,
    migrate: write,
    put(key, value) {
      if (!values.has(key)) keys.set(key, undefined);
      values.set(key, value);
    },
    remove(key) {
      if (values.delete(key)) keys.delete(key);
    },
    async [Symbol.asyncDispose]() {},
  };
}
