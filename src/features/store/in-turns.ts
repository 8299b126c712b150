import { letOthersRun } from "../../process/turns.ts";

/**
 * Does the work for each item, only some at a time, so that the calls of others are not behind all of them. Lets others
 * run in between.
 */
export async function eachInTurns<Item>(
  items: Iterable<Item>,
  atATime: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const waiting = Iterator.from(items);
  async function workOff() {
    for (const item of waiting) {
      await letOthersRun();
      await work(item);
    }
  }
  await Promise.all(Array.from({ length: atATime }, workOff));
}
