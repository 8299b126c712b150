import { setImmediate as afterThisTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { inBatches } from "./batches.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const maxMs = 1000;

/** Batches of up to three requests, numbers that are their sizes. A batch runs until the test ends it. */
function openBatches() {
  const running: (PromiseWithResolvers<string[]> & { requests: number[] })[] = [];
  const request = inBatches<number, string>(
    (requests) => {
      const batch = Object.assign(Promise.withResolvers<string[]>(), { requests });
      running.push(batch);
      return batch.promise;
    },
    { requests: 3, size: 10, sizeOf: (size) => size, maxMs, late: new Error("late") },
  );
  return {
    /** Sends requests. Resolves, when a batch can have begun, with what becomes of them. */
    async send(...sizes: number[]) {
      const outcomes = sizes.map((size) => request(size).catch(({ message }) => message));
      await afterThisTurn();
      await afterThisTurn();
      return outcomes;
    },
    /** The requests of the batches that have begun. */
    begun: () => running.map(({ requests }) => requests),
    /** Ends the batch that has begun last. */
    end(error?: Error) {
      const last = running.at(-1);
      if (error) last?.reject(error);
      else last?.resolve(last.requests.map((size) => `done ${size}`));
      return afterThisTurn();
    },
  };
}

test("a batch that fails rejects its own requests, and the next one runs", async () => {
  const { send, begun, end } = openBatches();
  const first = await send(1, 2, 3, 4);
  expect(begun()).toEqual([[1, 2, 3]]);
  await end(new Error("failed"));
  expect(await Promise.all(first.slice(0, 3))).toEqual(["failed", "failed", "failed"]);
  expect(begun()).toEqual([[1, 2, 3], [4]]);
  await end(new Error("failed"));
  expect(await first[3]).toBe("failed");
  const later = await send(5);
  await end();
  expect(await Promise.all(later)).toEqual(["done 5"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("a request that is late rejects, does not run if it has not begun, and holds up no later one", async () => {
  const { send, begun, end } = openBatches();
  const first = await send(1);
  const waiting = await send(2, 11);
  vi.advanceTimersByTime(maxMs);
  expect(await Promise.all([...first, ...waiting])).toEqual(["late", "late", "late"]);
  const later = await send(3);
  await end();
  expect(begun()).toEqual([[1], [3]]);
  await end();
  expect(await Promise.all(later)).toEqual(["done 3"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("batches of small requests and large requests take turns", async () => {
  const { send, begun, end } = openBatches();
  const outcomes = await send(1, 11, 12, 5, 5, 2);
  for (let count = 0; count < 4; count += 1) await end();
  expect(await Promise.all(outcomes)).toEqual([1, 11, 12, 5, 5, 2].map((size) => `done ${size}`));
  expect(begun()).toEqual([[1, 5], [11], [5, 2], [12]]);
});
