import { takeTurns } from "../../process/turns.ts";

/** Number of calls of an engine at the same time, so that other callers' calls are not behind all of them. */
const atATime = 50;

/** Does the work for each item, a few at a time, and lets others run in between. */
export async function eachInTurns<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const waiting = Iterator.from(items);
  const turn = takeTurns();
  async function workOff() {
    for (const item of waiting) {
      await work(item);
      await turn();
    }
  }
  await Promise.all(Array.from({ length: atATime }, workOff));
}
