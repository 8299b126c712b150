import { eachInTurns } from "../../waiting/turns.ts";
import type { Features } from "./store.ts";

/** `Features.hasEach` of a store without a faster way: `atATime` resources are read at the same time. */
export const hasEachBy =
  (has: Features["has"], atATime: number): Features["hasEach"] =>
  async (resources, features) => {
    const results: boolean[][] = [];
    await eachInTurns(resources.entries(), atATime, async ([index, { resource, id }]) => {
      results[index] = await has(resource, id, features);
    });
    return results;
  };
