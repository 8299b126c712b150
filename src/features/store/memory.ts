import trees from "sorted-btree";
import { type OrderedMap, openOrderedStore } from "./ordered-store.ts";
import { changesKept, type FeatureStore } from "./store.ts";

/** In this process, for as long as it runs. */
export const open = (url: URL): Promise<FeatureStore> => openOrderedStore(orderedMap(), changesKept(url));

function orderedMap(): OrderedMap {
  const tree = new trees.default<string, unknown>(undefined, (one, other) =>
    one < other ? -1 : one > other ? 1 : 0,
  );
  return {
    read: (work) => work(),
    get: (key) => tree.get(key) as never,
    *range(start, end) {
      for (const [key, value] of tree.entries(start)) {
        if (key >= end) return;
        yield value as never;
      }
    },
    write: async (work) => work(),
    put: (key, value) => void tree.set(key, value),
    remove: (key) => void tree.delete(key),
    async [Symbol.asyncDispose]() {},
  };
}
