import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openLane } from "./lane.ts";
import type { Owner } from "./owner.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const limitMs = 1000;
const timeout = new Error("too late");
const busy = new Error("too many");

/** Work that runs until the test ends it. */
interface Work {
  name: string;
  owner: Owner;
  part: string | undefined;
  end: PromiseWithResolvers<string>;
}

/** A lane with 10 places: 4 of an owner, 2 of a part of that. */
function openWork(limits: { runningMax?: number; waitingMax?: number } = {}) {
  const lane = openLane({ runningMax: 10, waitingMax: 12, limitMs, timeout, busy, ...limits });
  const running = new Set<Work>();
  const begun: string[] = [];
  let count = 0;
  return {
    running,
    /** The names of all work that has begun, in order. */
    begun,
    namesOf: () => [...running].map(({ name }) => name),
    start(owner: Owner, part?: string): Promise<string | number> {
      count += 1;
      const work: Work = {
        name: `${owner.at(-1)}${part ?? ""}${count}`,
        owner,
        part,
        end: Promise.withResolvers(),
      };
      const run = () => {
        begun.push(work.name);
        running.add(work);
        return work.end.promise.finally(() => running.delete(work));
      };
      return lane.run(owner, run, part).catch((error) => error.message);
    },
    async endFirst() {
      const [first] = running;
      first?.end.resolve(first.name);
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

const [a, b, c] = ["subject a", "subject b", "subject c"] as const;
const many = <Result>(number: number, make: () => Result) => Array.from({ length: number }, make);

test("an owner has a third of the places, also alone, and a part of its work a third of that", async () => {
  const { start, namesOf } = openWork();
  many(9, () => start(a, "x"));
  await vi.advanceTimersByTimeAsync(0);
  expect(namesOf()).toEqual(["ax1", "ax2"]);
  many(2, () => start(a, "y"));
  many(2, () => start(a, "z"));
  await vi.advanceTimersByTimeAsync(0);
  expect(namesOf()).toEqual(["ax1", "ax2", "ay10", "ay11"]);
  start(b);
  await vi.advanceTimersByTimeAsync(0);
  expect(namesOf().at(-1)).toBe("b14");
});

test("while work waits, owners take turns, whatever the number of their requests, and so do parts of one", async () => {
  const { start, begun, running, endFirst } = openWork({ runningMax: 1, waitingMax: 100 });
  many(4, () => start(a, "x"));
  start(a, "y");
  many(2, () => start(b));
  start(c);
  while (running.size > 0) await endFirst();
  expect(begun).toEqual(["ax1", "ax2", "b6", "c8", "ay5", "b7", "ax3", "ax4"]);
});

test("if too much work waits, the owner with most of it is rejected, and others find room", async () => {
  const { start, running, endFirst } = openWork({ runningMax: 3, waitingMax: 6 });
  const ofA = many(9, () => start(a));
  expect(await Promise.all(ofA.slice(7))).toEqual(Array(2).fill(busy.message));
  const ofB = many(4, () => start(b));
  expect(await Promise.all(ofA.slice(4, 7))).toEqual(Array(3).fill(busy.message));
  const ofC = start(c);
  while (running.size > 0) await endFirst();
  expect(await Promise.all(ofA.slice(0, 4))).toEqual(["a1", "a2", "a3", "a4"]);
  expect(await Promise.all(ofB)).toEqual(["b10", "b11", "b12", "b13"]);
  expect(await ofC).toBe("c14");
});

test("among the parts of an owner, the one with most of the waiting work is rejected", async () => {
  const { start, running, endFirst } = openWork({ runningMax: 1, waitingMax: 4 });
  const ofX = many(5, () => start(a, "x"));
  const ofY = start(a, "y");
  expect(await ofX[4]).toBe(busy.message);
  while (running.size > 0) await endFirst();
  expect(await ofY).toBe("ay6");
});

test("a lane has all its places again, whatever became of the work in them", async () => {
  const step = fc.record({
    /** Who sends work, more than there is room for. */
    requests: fc.array(fc.tuple(fc.constantFrom(a, b, c), fc.constantFrom("x", "y", undefined)), {
      maxLength: 30,
    }),
    /** In this time, what waits is too late or it is not. */
    passMs: fc.constantFrom(0, 1, limitMs),
    fails: fc.boolean(),
  });
  const property = fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
    const { start, running, endFirst } = openWork();
    const count = (isCounted: (work: Work) => boolean) => [...running].filter(isCounted).length;
    const all: Promise<string | number>[] = [];
    for (const { requests, passMs, fails } of steps) {
      all.push(...requests.map(([owner, part]) => start(owner, part)));
      await vi.advanceTimersByTimeAsync(passMs);
      expect(running.size).toBeLessThanOrEqual(10);
      for (const { owner, part } of running) {
        expect(count((work) => work.owner === owner)).toBeLessThanOrEqual(4);
        if (part === undefined) continue;
        expect(count((work) => work.owner === owner && work.part === part)).toBeLessThanOrEqual(2);
      }
      for (const { end } of [...running].slice(0, 7)) {
        if (fails) end.reject(new Error("failed"));
        else end.resolve("done");
      }
      await vi.advanceTimersByTimeAsync(0);
    }
    while (running.size > 0) await endFirst();
    await Promise.all(all);

    const outcomes = [a, b, c].flatMap((owner) => many(4, () => start(owner)));
    await vi.advanceTimersByTimeAsync(0);
    expect(running.size).toBe(10);
    while (running.size > 0) await endFirst();
    expect((await Promise.all(outcomes)).every((name) => typeof name === "string")).toBe(true);
  });
  await fc.assert(property, { numRuns: 100 });
});

test("work that waits for the limit rejects and never runs", async () => {
  const { start, running, endFirst } = openWork({ runningMax: 3, waitingMax: 6 });
  const outcomes = many(4, () => start(a));
  await vi.advanceTimersByTimeAsync(limitMs);
  expect(await Promise.all(outcomes.slice(1))).toEqual(Array(3).fill("too late"));
  await endFirst();
  expect(await outcomes[0]).toBe("a1");
  expect(running.size).toBe(0);
});
