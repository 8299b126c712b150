import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { openFlagEvents } from "../requests/flag-events.ts";
import { add, passTime, remove, stopClock } from "../store/new-store.fixture.ts";
import type { FeatureStore } from "../store/store.ts";
import { openFeatureStore } from "../store/stores.ts";
import { readStream, watchFeed } from "./features.fixture.ts";

vi.mock("../../http/streams/event-stream.ts", async (original) => ({
  ...(await original<object>()),
  lookEveryMs: 5,
}));

const event = 'data: {"type":"refetchEvaluation"}\n\n';

let store: FeatureStore;
let feed: ReturnType<typeof watchFeed>;
let events: ReturnType<typeof openFlagEvents>;
beforeEach(async () => {
  store = await openFeatureStore("memory:");
  feed = watchFeed(store);
  events = openFlagEvents(feed.store);
});

/** Opens a stream of a customer's flags. It counts the events that have arrived. */
function follow(id: string) {
  const stream = readStream((signal) => events("customer", id, signal));
  const count = () => stream.text().split(event).length - 1;
  return { ...stream, count, has: (expected: number) => eventually(() => expect(count()).toBe(expected)) };
}

describe("a stream of flags", () => {
  test("sends an event at once, and one after each change of its resource, and no other", async () => {
    stopClock();
    const stream = follow("42");
    await stream.has(1);
    expect(stream.text()).toBe(`:\n\n${event}`);
    const changes = [add("a"), remove("a"), add("a", Date.now() + 10)];
    for (const [index, change] of changes.entries()) {
      await store.change("customer", "42", [change]);
      await stream.has(2 + index);
    }
    passTime(10);
    await stream.has(5);
    await store.change("customer", "42", [add("b")]);
    await stream.has(6);
    await store.change("customer", "42", [add("b")]);
    await store.change("customer", "4", [add("a")]);
    await store.change("customers", "42", [add("a")]);
    await store.change("42", "customer", [add("a")]);
    await feed.hasLooked();
    expect(stream.count()).toBe(6);
  });

  test("misses no change that follows its first event", async () => {
    for (let round = 1; round <= 8; round++) {
      const stream = follow("42");
      await stream.has(1);
      await store.change("customer", "42", [add(`f${round}`)]);
      await stream.has(2);
      stream.stop();
      // In some rounds the loop still runs, in others it has ended.
      if (round % 2 === 0) await sleep(20);
    }
  });

  test("combines events while its client reads none", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    async function* readSlowly(signal: AbortSignal) {
      for await (const chunk of events("customer", "42", signal)) {
        yield chunk;
        if (chunk.toString() === event) await released;
      }
    }
    const stream = readStream(readSlowly);
    await expect.poll(() => stream.text()).toBe(`:\n\n${event}`);
    for (const feature of ["a", "b", "c"]) {
      await store.change("customer", "42", [add(feature)]);
      await feed.hasLooked();
    }
    release();
    await expect.poll(() => stream.text()).toBe(`:\n\n${event}${event}`);
    await feed.hasLooked();
    expect(stream.text()).toBe(`:\n\n${event}${event}`);
  });

  test("opens while the store fails, and sends an event when it works again", async () => {
    feed.failing = "newest";
    const stream = follow("42");
    await eventually(() => expect(feed.failures).toBeGreaterThan(2));
    expect(stream.count()).toBe(1);
    feed.failing = undefined;
    await stream.has(2);
  });

  test("sends an event if records that it has not read have been deleted", async () => {
    let isDeleted = false;
    const { changes } = feed.store;
    feed.store.changes = async (...args) => (isDeleted ? undefined : changes(...args));
    const stream = follow("42");
    await stream.has(1);
    isDeleted = true;
    await store.change("customer", "43", [add("a")]);
    await stream.has(2);
    isDeleted = false;
    await store.change("customer", "42", [add("a")]);
    await stream.has(3);
  });

  test("ends with an unexpected error", async () => {
    const stream = follow("42");
    await stream.has(1);
    feed.store.changes = async () => expect.unreachable("a bug");
    await store.change("customer", "42", [add("a")]);
    await expect(stream.ended).rejects.toThrow("a bug");
  });
});
