import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { openChangeStreams } from "../requests/feed.ts";
import { openFlagEvents } from "../requests/flag-events.ts";
import { add, names } from "../store/new-store.fixture.ts";
import type { FeatureStore } from "../store/store.ts";
import { openFeatureStore } from "../store/stores.ts";
import { readStream, watchFeed } from "./features.fixture.ts";

vi.mock("../../http/streams/event-stream.ts", async (original) => ({
  ...(await original<object>()),
  lookEveryMs: 5,
}));

type Open = (id: string, newest: string, signal: AbortSignal) => AsyncIterable<Buffer>;

const kinds: {
  name: string;
  openOn(store: FeatureStore): Open;
  /** The events of a stream of the resource `id`, after one change of each of the resources. */
  eventsAfter(id: string, changed: string[]): number;
}[] = [
  {
    name: "changes",
    openOn(store) {
      const open = openChangeStreams(store);
      return (_id, newest, signal) => open("subject a", {}, newest, signal);
    },
    eventsAfter: (_id, changed) => changed.length,
  },
  {
    name: "flags",
    openOn(store) {
      const open = openFlagEvents(store);
      return (id, _newest, signal) => open("kind", id, signal);
    },
    // The first one comes at once.
    eventsAfter: (id, changed) => (changed.includes(id) ? 2 : 1),
  },
];

describe.each(kinds)("a stream of $name", ({ openOn, eventsAfter }) => {
  let store: FeatureStore;
  let feed: ReturnType<typeof watchFeed>;
  let open: Open;
  beforeEach(async () => {
    store = await openFeatureStore("memory:");
    feed = watchFeed(store);
    open = openOn(feed.store);
  });
  const change = (id: string) => store.change("kind", id, [add("a")]);
  async function follow(id: string) {
    const newest = await store.newest();
    const stream = readStream((signal) => open(id, newest, signal));
    const hasEventsAfter = (changed: string[]) =>
      eventually(() => expect(stream.text().split("data:").length - 1).toBe(eventsAfter(id, changed)));
    await hasEventsAfter([]);
    return { ...stream, hasEventsAfter };
  }

  test("shares one loop with all others, which reads each record once and ends with the last stream", async () => {
    const [ids, changed] = [names(100), names(40)];
    const streams = await Promise.all(ids.map(follow));
    await feed.hasLooked();
    const { promise, resolve: release } = Promise.withResolvers<void>();
    feed.held = promise;
    await eventually(() => expect(feed.looking).toBe(1));
    for (const id of changed) await change(id);
    feed.reads = 0;
    release();
    for (const { hasEventsAfter } of streams) await hasEventsAfter(changed);
    await feed.hasLooked();
    expect(feed).toMatchObject({ reads: 1, lookingMost: 1 });

    for (const { stop } of streams) stop();
    await Promise.all(streams.map(({ ended }) => ended));
    // The loop has ended: a look is not followed by another one, although one more wait of the loop is over.
    await eventually(async () => {
      const { looks } = feed;
      await sleep(10);
      await sleep(10);
      expect(feed.looks).toBe(looks);
    });
  });

  test("begins with a comment and has another one after 15 seconds without an event", async () => {
    const { setTimeout } = globalThis;
    const shortened = vi
      .spyOn(globalThis, "setTimeout")
      .mockImplementation(((work: () => void, milliseconds: number, ...args: []) =>
        setTimeout(work, milliseconds === 15_000 ? 20 : milliseconds, ...args)) as never);
    try {
      const stream = await follow("1");
      await expect.poll(() => stream.text()).toMatch(/^:\n\n(data: .*\n\n)?(:\n\n){4,}$/);
      await change("1");
      await stream.hasEventsAfter(["1"]);
    } finally {
      shortened.mockRestore();
    }
  });

  test.each(["newest", "changes"] as const)("continues after %s has failed for a while", async (method) => {
    const stream = await follow("1");
    await feed.hasLooked();
    feed.failing = method;
    await change("1");
    await eventually(() => expect(feed.failures).toBeGreaterThan(2));
    await stream.hasEventsAfter([]);
    feed.failing = undefined;
    await stream.hasEventsAfter(["1"]);
  });
});
