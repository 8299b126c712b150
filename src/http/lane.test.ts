import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HttpError } from "./http-error.ts";
import { openLane } from "./lane.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const [runningMax, waitingMax, limitMs] = [2, 3, 1000];
const placesMax = runningMax + waitingMax;
const timeout = new Error("too late");

/** Sends work to a lane, each of which runs until it is ended. */
function openWork() {
  const lane = openLane({ runningMax, waitingMax, limitMs, timeout, busy: "busy" });
  const running = new Set<PromiseWithResolvers<string>>();
  const ends: ((one: PromiseWithResolvers<string>) => void)[] = [
    ({ resolve }) => resolve("done"),
    ({ reject }) => reject(new Error("failed")),
  ];
  return {
    lane,
    running,
    ends,
    start: () =>
      lane
        .run(() => {
          const one = Promise.withResolvers<string>();
          running.add(one);
          return one.promise.finally(() => running.delete(one));
        })
        .catch((error) => (error instanceof HttpError ? error.status : error.message)),
    /** Ends all work that runs. */
    endAll(end: (one: PromiseWithResolvers<string>) => void) {
      for (const one of running) end(one);
    },
  };
}

test("a lane has all its places again, whatever became of the work in them", async () => {
  const step = fc.record({
    /** More work than there is room for is rejected. */
    count: fc.integer({ min: 1, max: placesMax + 2 }),
    /** In this time, what waits is too late or it is not. */
    passMs: fc.constantFrom(0, 1, limitMs),
    end: fc.nat(1),
  });
  const property = fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
    const { lane, running, ends, start, endAll } = openWork();
    const all: Promise<string | number>[] = [];
    for (const { count, passMs, end } of steps) {
      all.push(...Array.from({ length: count }, start));
      await vi.advanceTimersByTimeAsync(passMs);
      expect(running.size).toBeLessThanOrEqual(runningMax);
      endAll(ends[end] as (typeof ends)[number]);
      await vi.advanceTimersByTimeAsync(0);
    }
    while (running.size > 0) {
      endAll(ends[0] as (typeof ends)[number]);
      await vi.advanceTimersByTimeAsync(0);
    }
    await Promise.all(all);
    expect(lane.isIdle()).toBe(true);

    const outcomes = Array.from({ length: placesMax + 1 }, start);
    expect(await outcomes[placesMax]).toBe(503);
    const order = [];
    for (let ended = 0; ended < placesMax; ended += 1) {
      expect(running.size).toBe(Math.min(runningMax, placesMax - ended));
      const [first] = running;
      first?.resolve(String(ended));
      await vi.advanceTimersByTimeAsync(0);
      order.push(String(ended));
    }
    expect(await Promise.all(outcomes.slice(0, placesMax))).toEqual(order);
    expect(lane.isIdle()).toBe(true);
  });
  await fc.assert(property, { numRuns: 100 });
});

test("work that waits for the limit rejects and never runs", async () => {
  const { running, ends, start, endAll } = openWork();
  const outcomes = Array.from({ length: placesMax }, start);
  await vi.advanceTimersByTimeAsync(limitMs);
  expect(await Promise.all(outcomes.slice(runningMax))).toEqual(Array(waitingMax).fill("too late"));
  endAll(ends[0] as (typeof ends)[number]);
  expect(await Promise.all(outcomes.slice(0, runningMax))).toEqual(Array(runningMax).fill("done"));
  expect(running.size).toBe(0);
});
