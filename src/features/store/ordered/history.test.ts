import { expect, test } from "vitest";
import { featuresMax } from "../store.ts";
import type { OrderedMap } from "./map.ts";
import { orderedMap } from "./memory.ts";
import { openOrderedStore } from "./store.ts";

/** A map that counts the values that are read. */
function countingMap() {
  const map = orderedMap();
  const counting = {
    ...map,
    valuesRead: 0,
    get<Value>(key: string) {
      counting.valuesRead += 1;
      return map.get<Value>(key);
    },
    *range<Value>(start: string, end: string) {
      for (const value of map.range<Value>(start, end)) {
        counting.valuesRead += 1;
        yield value;
      }
    },
  } satisfies OrderedMap & { valuesRead: number };
  return counting;
}

test.each([1, 30, featuresMax])(
  "the list of a resource with a long past, of %d features, is read from a saved list",
  async (length) => {
    const map = countingMap();
    await using store = await openOrderedStore(map, Number.POSITIVE_INFINITY);
    const change = (type: "add" | "remove") =>
      store.change(
        "customer",
        "42",
        Array.from({ length }, (_, index) => ({ type, feature: `feature ${index}` })),
      );
    for (let records = 0; records < 4000; records += 2 * length) {
      await change("add");
      await change("remove");
    }
    await change("add");
    map.valuesRead = 0;
    const list = await store.history?.at(Date.now()).list("customer", "42");
    expect(list).toHaveLength(length);
    expect(map.valuesRead).toBeLessThan(2.5 * Math.max(length, 100));
  },
);
