import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as afterThisTurn } from "node:timers/promises";
import { openTurnsOfOwners } from "./turns-of-owners.ts";

/** Milliseconds of work after which others get their turn. */
const turnMaxMs = 10;

/** When long work began to hold the event loop in its present turn; undefined if none has. */
let heldSince: number | undefined;

/** The owner of the work. It is in the context, since loops deep in a store know of no request. */
const owner = new AsyncLocalStorage<string>();

/** Runs work that takes its turns as this owner's. */
export const inTurnsOf = <Result>(name: string, work: () => Result): Result => owner.run(name, work);

/** The owner of the present work; empty for work of the service itself. */
export const presentOwner = (): string => owner.getStore() ?? "";

/** The work that waits for a turn of the event loop. */
const waiting = openTurnsOfOwners<() => void>();
let isGiving = false;

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

/** Of all work that waits, one continues in each turn of the event loop. The owners of the work take turns. */
function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.add(presentOwner(), resolve);
  if (!isGiving) void giveTurns();
  return promise;
}

async function giveTurns(): Promise<void> {
  isGiving = true;
  await afterThisTurn();
  for (let next = waiting.take(); next; next = waiting.take()) {
    next();
    await afterThisTurn();
  }
  isGiving = false;
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
export async function mapInTurns<Item, Result>(items: Item[], work: (item: Item) => Result) {
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
