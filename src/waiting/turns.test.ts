import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { inTurnsOf, letOthersRun } from "./turns.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

/** Does several pieces of work at the same time. Resolves with the numbers of the turns in which their steps ran. */
async function turnsOf(count: number, steps: number): Promise<number[]> {
  let number = 0;
  let isOver = false;
  const counting = (async () => {
    while (!isOver) {
      await setImmediate();
      number += 1;
    }
  })();
  const turns: number[] = [];
  await Promise.all(
    Array.from({ length: count }, async () => {
      // All begin in one turn, like requests that arrive together.
      await setImmediate();
      for (let step = 0; step < steps; step++) {
        await letOthersRun();
        turns.push(number);
        vi.advanceTimersByTime(12);
      }
    }),
  );
  isOver = true;
  await counting;
  return turns;
}

test("long work runs in several turns of the event loop", async () => {
  expect(new Set(await turnsOf(1, 10)).size).toBeGreaterThanOrEqual(9);
});

test("much work at the same time holds no turn of the event loop for long", async () => {
  const turns = await turnsOf(10, 2);
  expect(turns).toHaveLength(20);
  expect(new Set(turns).size).toBeGreaterThan(10);
});

test("owners take turns: much work of one does not delay that of another", async () => {
  const order: string[] = [];
  const steps = (owner: string, count: number) =>
    inTurnsOf(owner, async () => {
      await setImmediate();
      for (let step = 0; step < count; step++) {
        await letOthersRun();
        order.push(owner);
        vi.advanceTimersByTime(12);
      }
    });
  const many = Array.from({ length: 50 }, () => steps("many", 10));
  await Promise.all([...many, steps("one", 10)]);
  expect(order).toHaveLength(510);
  // All begin in one turn of the event loop.
  expect(order.lastIndexOf("one")).toBeLessThan(50 + 2 * 10 + 5);
});
