import trees from "sorted-btree";
import type { Address } from "../../../engines/adapter.ts";
import { recordsKept, type StoreParameters } from "../parameters.ts";
import type { FeatureStore } from "../store.ts";
import type { OrderedMap } from "./map.ts";
import { openOrderedStore } from "./store.ts";

/** A store in the memory of this process. Its data ends with the process. */
export const open = ({ parameters }: Address<StoreParameters>): Promise<FeatureStore> =>
  openOrderedStore(orderedMap(), recordsKept(parameters));

export function orderedMap(): OrderedMap {
  const tree = new trees.default<string, unknown>(undefined, (one, other) =>
    one < other ? -1 : one > other ? 1 : 0,
  );
  const write: OrderedMap["write"] = async (work) => work();
  return {
    read: (work) => work(),
    get: (key) => tree.get(key) as never,
    *range(start, end) {
      for (const [key, value] of tree.entries(start)) {
        if (key >= end) return;
        yield value as never;
      }
    },
    last(start, end) {
      const [key = "", value] = tree.nextLowerPair(end) ?? [];
      return key >= start ? (value as never) : undefined;
    },
    count: (start, end) => tree.forRange(start, end, false),
    write,
    migrate: write,
    put: (key, value) => void tree.set(key, value),
    remove: (key) => void tree.delete(key),
    async [Symbol.asyncDispose]() {},
  };
}
