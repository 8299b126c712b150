import { setImmediate as afterThisTurn } from "node:timers/promises";

/** Milliseconds of work after which others get their turn. */
const turnMaxMs = 10;

/** When long work began to hold the event loop in its present turn; undefined if none has. */
let heldSince: number | undefined;
let lastTurn: Promise<unknown> = Promise.resolve();

/** Milliseconds for which long work, of whatever request, has held the event loop in its present turn. */
function heldForMs(): number {
  if (heldSince === undefined) {
    heldSince = performance.now();
    setImmediate(() => {
      heldSince = undefined;
    });
  }
  return performance.now() - heldSince;
}

/** True if others should get a turn of the event loop, since long work has held this one for 10 ms. */
export const isTurnOver = (): boolean => heldForMs() >= turnMaxMs;

/** Of all work that waits, one continues in each turn of the event loop. */
function nextTurn(): Promise<unknown> {
  lastTurn = lastTurn.then(() => afterThisTurn());
  return lastTurn;
}

/**
 * Divides long work into turns of the event loop: awaited between its steps, it lets others run when all such work together
 * has held the event loop for 10 ms.
 */
export async function letOthersRun(): Promise<void> {
  if (!isTurnOver()) return;
  await nextTurn();
  heldForMs();
}

/** Work for so few items does not wait for others. */
const itemsPerTurn = 20;

/** The results of the work for each item, in turns of the event loop. */
export async function mapInTurns<Item, Result>(
  items: Item[],
  work: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    results.push(work(item));
    if (results.length % itemsPerTurn === 0) await letOthersRun();
  }
  return results;
}

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
