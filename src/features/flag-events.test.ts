import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { listen } from "../../testing/event-stream.ts";
import { eventually } from "../../testing/eventually.ts";
import { openLog } from "../process/log.ts";
import { startFeatures } from "./features.fixture.ts";
import { type FeatureStore, openFeatureStore, StoreFailure } from "./store/store.ts";

let store: FeatureStore;
let service: Awaited<ReturnType<typeof startFeatures>>;
beforeEach(async () => {
  store = await openFeatureStore("memory:?changes=50");
  service = await startFeatures({ store });
  return () => service[Symbol.asyncDispose]();
});

const pathOf = (id: string, resource = "customer") => `/ofrep/v1/events?resource=${resource}&id=${id}`;
const event = 'data: {"type":"refetchEvaluation"}\n\n';

/** Opens a stream of flags. It counts the events that have arrived. */
async function follow(id: string, base = service.base) {
  const stream = await listen(base, pathOf(id));
  return { ...stream, count: () => stream.text().split(event).length - 1 };
}

const add = (id: string, feature: string, base = service) =>
  base.request("POST", `/features/customer/${id}/${feature}`);

/** A service on the store with some methods replaced, which leaves the store open. */
const startWith = (methods: Partial<FeatureStore>, log = openLog("silent")) =>
  startFeatures({ store: { ...store, ...methods, async [Symbol.asyncDispose]() {} }, log });

describe("a stream of flags", () => {
  test("sends an event at once, and one after each change of its resource", async () => {
    const stream = await follow("42");
    expect(stream.response.statusCode).toBe(200);
    expect(stream.response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    await expect.poll(() => stream.text()).toBe(`:\n\n${event}`);
    const startedAt = performance.now();
    await add("42", "a");
    await expect.poll(() => stream.count(), { interval: 5 }).toBe(2);
    expect(performance.now() - startedAt).toBeLessThan(5000);
    await service.request("DELETE", "/features/customer/42/a");
    await expect.poll(() => stream.count()).toBe(3);
    const soon = new Date(Date.now() + 300).toISOString();
    await service.request("POST", `/features/customer/42/a?expires_at=${soon}`);
    await expect.poll(() => stream.count()).toBe(4);
    await expect.poll(() => stream.count()).toBe(5);
    await add("42", "b");
    await expect.poll(() => stream.count()).toBe(6);
    await add("42", "b");
    await sleep(500);
    expect(stream.count()).toBe(6);
    stream.stop();
    expect(await stream.ended).toBe("by the client");
  });

  test("sends nothing about other resources", async () => {
    const stream = await follow("42");
    await expect.poll(() => stream.count()).toBe(1);
    await add("4", "a");
    await service.request("POST", "/features/customers/42/a");
    await service.request("POST", "/features/42/customer/a");
    await sleep(500);
    expect(stream.text()).toBe(`:\n\n${event}`);
    stream.stop();
  });

  test("misses no change that follows its first event", async () => {
    for (let round = 1; round <= 8; round++) {
      const stream = await follow("42");
      await expect.poll(() => stream.count(), { interval: 1 }).toBe(1);
      await store.change("customer", "42", [{ type: "add", feature: `f${round}` }]);
      await expect.poll(() => stream.count()).toBe(2);
      stream.stop();
      // In some rounds the loop still runs, in others it has ended.
      if (round % 2 === 0) await sleep(round * 50);
    }
  });

  test("combines events while its client reads none", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const stop = new AbortController();
    const { openFlagEvents } = await import("./handlers/flag-events.ts");
    let seen = "";
    const reading = (async () => {
      for await (const chunk of openFlagEvents(store)("customer", "42", stop.signal)) {
        seen += chunk;
        if (chunk.toString() === event) await released;
      }
    })();
    await expect.poll(() => seen).toBe(`:\n\n${event}`);
    for (const feature of ["a", "b", "c"]) {
      await store.change("customer", "42", [{ type: "add", feature }]);
      await sleep(250);
    }
    release();
    await expect.poll(() => seen).toBe(`:\n\n${event}${event}`);
    await sleep(300);
    expect(seen).toBe(`:\n\n${event}${event}`);
    stop.abort();
    await reading;
  });

  test("shares one loop with all others, which reads each record once and ends with the last stream", async () => {
    let looks = 0;
    let reads = 0;
    await using counted = await startWith({
      newest() {
        looks += 1;
        return store.newest();
      },
      changes(...args) {
        reads += 1;
        return store.changes(...args);
      },
    });
    const ids = Array.from({ length: 100 }, (_, index) => String(index));
    const streams = await Promise.all(ids.map((id) => follow(id, counted.base)));
    await eventually(() => expect(streams.map(({ count }) => count())).toEqual(ids.map(() => 1)));
    looks = reads = 0;
    const startedAt = performance.now();
    await counted.request("POST", "/changes", {
      body: { changes: ids.map((id) => ({ type: "add", resource: "customer", id, feature: "a" })) },
    });
    await eventually(() => expect(streams.map(({ count }) => count())).toEqual(ids.map(() => 2)));
    await sleep(500);
    expect(looks).toBeLessThan((10 * (performance.now() - startedAt)) / 1000);
    // The change can be read in several parts.
    expect(reads).toBeLessThan(10);
    for (const stream of streams) stream.stop();
    await eventually(async () => {
      looks = 0;
      await sleep(500);
      expect(looks).toBe(0);
    });
  });

  test("has a comment after 15 seconds without an event", async () => {
    const { setTimeout } = globalThis;
    const shortened = vi
      .spyOn(globalThis, "setTimeout")
      .mockImplementation(((work: () => void, milliseconds: number, ...args: []) =>
        setTimeout(work, milliseconds === 15_000 ? 20 : milliseconds, ...args)) as never);
    try {
      const stream = await follow("42");
      await expect.poll(() => stream.text()).toMatch(/^:\n\ndata: .*\n\n(:\n\n){4,}$/);
      await add("42", "a");
      await expect.poll(() => stream.count()).toBe(2);
      stream.stop();
    } finally {
      shortened.mockRestore();
    }
  });

  test.each([["newest"], ["changes"]] as const)(
    "continues after %s of the store has failed for a while",
    async (failing) => {
      let fails = false;
      const method: (...args: never[]) => Promise<never> = async (...args) => {
        if (fails) throw new StoreFailure("unavailable");
        return await (store[failing] as (...args: never[]) => Promise<never>)(...args);
      };
      await using unreliable = await startWith({ [failing]: method });
      const stream = await follow("42", unreliable.base);
      await expect.poll(() => stream.count()).toBe(1);
      fails = true;
      await store.change("customer", "42", [{ type: "add", feature: "a" }]);
      await sleep(500);
      expect(stream.count()).toBe(1);
      fails = false;
      await expect.poll(() => stream.count()).toBe(2);
      stream.stop();
    },
  );

  test("opens while the store fails, and sends an event when it works again", async () => {
    let fails = true;
    await using unreliable = await startWith({
      newest: async () => (fails ? Promise.reject(new StoreFailure("unavailable")) : store.newest()),
    });
    const stream = await follow("42", unreliable.base);
    await expect.poll(() => stream.count()).toBe(1);
    await sleep(500);
    expect(stream.count()).toBe(1);
    fails = false;
    await expect.poll(() => stream.count()).toBe(2);
    stream.stop();
  });

  test("sends an event if records that it has not read have been deleted", async () => {
    let isDeleted = false;
    await using service = await startWith({
      changes: async (...args) => (isDeleted ? undefined : store.changes(...args)),
    });
    const stream = await follow("42", service.base);
    await expect.poll(() => stream.count()).toBe(1);
    isDeleted = true;
    await store.change("customer", "43", [{ type: "add", feature: "a" }]);
    await expect.poll(() => stream.count()).toBe(2);
    isDeleted = false;
    await store.change("customer", "42", [{ type: "add", feature: "a" }]);
    await expect.poll(() => stream.count()).toBe(3);
    stream.stop();
  });

  test("is cut off by an unexpected error, which is logged", async () => {
    const lines: string[] = [];
    const sink = new Writable({ write: (line, _encoding, done) => done(void lines.push(String(line))) });
    let isBroken = false;
    await using service = await startWith(
      { changes: async (...args) => (isBroken ? expect.unreachable("a bug") : store.changes(...args)) },
      openLog("error", sink),
    );
    const stream = await follow("42", service.base);
    await expect.poll(() => stream.count()).toBe(1);
    isBroken = true;
    await store.change("customer", "42", [{ type: "add", feature: "a" }]);
    expect(await stream.ended).not.toBe("by the service");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ msg: "a response was cut off", method: "GET", route: "/ofrep/v1/events" }),
    ]);
  });

  test("ends when the service stops", async () => {
    const stopping = await startFeatures();
    const stream = await follow("42", stopping.base);
    const startedAt = performance.now();
    await stopping[Symbol.asyncDispose]();
    expect(await stream.ended).toBe("by the service");
    // Less than the time that a stop gives to slow connections.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  test("has no body for HEAD", async () => {
    expect(await service.request("HEAD", pathOf("42"))).toMatchObject({ status: 200, text: "" });
  });

  test.each(["", "?resource=customer", "?id=42", "?resource=customer&id=", `${pathOf("42").slice(16)}&x=1`])(
    "answers 400 as JSON for the query %j",
    async (query) => {
      const response = await service.request("GET", `/ofrep/v1/events${query}`);
      expect(response).toMatchObject({ status: 400, type: "application/json; charset=utf-8" });
      expect(JSON.parse(response.text)).toHaveProperty("errorDetails");
    },
  );
});

test("1,000 streams of 1,000 resources hear of a change of each", async () => {
  const ids = Array.from({ length: 1000 }, (_, index) => String(index));
  const streams = await Promise.all(ids.map((id) => follow(id)));
  await eventually(() => expect(streams.every(({ count }) => count() === 1)).toBe(true));
  const changes = ids.map((id) => ({ type: "add", resource: "customer", id, feature: "a" }));
  await service.request("POST", "/changes", { body: { changes } });
  await eventually(() => expect(streams.every(({ count }) => count() >= 2)).toBe(true));
  for (const stream of streams) stream.stop();
});
