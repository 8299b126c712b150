import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { openLog } from "../process/log.ts";
import { sweepExpired } from "./expiry-sweep.ts";
import { start } from "./start.ts";
import { newLmdb } from "./store/new-store.fixture.ts";
import { openFeatureStore, StoreFailure } from "./store/store.ts";

test("expired features are removed although nobody reads the feed", async () => {
  await using store = await openFeatureStore("memory:");
  for (const id of ["1", "2", "3"]) {
    const changes = Array.from({ length: 500 }, (_, index) => ({
      type: "add" as const,
      feature: String(index),
      expiresAt: Date.now() + 1,
    }));
    await store.change("kind", id, changes);
  }
  await sleep(5);
  const outcomes: boolean[] = [];
  const expire = async () => {
    const hasMore = await store.expire();
    outcomes.push(hasMore);
    return hasMore;
  };
  await using _sweep = sweepExpired({ ...store, expire }, openLog("silent"));
  await eventually(async () => expect(outcomes).toContain(false));
  expect(outcomes.length).toBeGreaterThan(2);
  const records = (await store.changes(undefined, 10_000)) ?? [];
  expect(records.filter(({ record }) => record.type === "expired")).toHaveLength(1500);
});

test("one step runs at a time, and none after the disposal", async () => {
  let running = 0;
  let steps = 0;
  await using store = await openFeatureStore("memory:");
  const expire = async () => {
    expect(++running).toBe(1);
    await sleep(5);
    running -= 1;
    steps += 1;
    return true;
  };
  {
    await using _sweep = sweepExpired({ ...store, expire }, openLog("silent"));
    await eventually(async () => expect(steps).toBeGreaterThan(3));
  }
  expect(running).toBe(0);
  const before = steps;
  await sleep(100);
  expect(steps).toBe(before);
});

test("an outage of the store is logged when it begins and when it ends", async () => {
  const lines: string[] = [];
  const sink = new Writable({ write: (line, _encoding, done) => done(void lines.push(String(line))) });
  await using store = await openFeatureStore("memory:");
  const failing = new StoreFailure("unavailable");
  const outcomes = [failing, failing, true, failing, failing];
  const expire = async () => {
    const outcome = outcomes.shift() ?? false;
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
  await using _sweep = sweepExpired({ ...store, expire }, openLog("info", sink));
  await eventually(async () => expect(outcomes).toEqual([]));
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ msg: expect.stringMatching(/^expired features cannot be removed/) }),
  ]);
  await eventually(() => expect(lines).toHaveLength(2));
  expect(JSON.parse(lines[1] ?? "")).toMatchObject({
    msg: expect.stringMatching(/^ended: expired features cannot be removed/),
    failures: 4,
  });
});

test("the service removes them while it runs", async () => {
  await using made = await newLmdb();
  const settings = { HOST: "127.0.0.1", FEATURES_PORT: 0, FEATURES_STORE_URL: made.url };
  {
    await using store = await openFeatureStore(made.url);
    const expiresAt = Date.now() + 1;
    const features = Array.from({ length: 600 }, (_, index) => String(index));
    const additions = features.map((feature) => ({ type: "add" as const, feature, expiresAt }));
    await store.change("kind", "1", additions);
  }
  // A slow machine needs longer.
  for (let waitMs = 1000; ; waitMs *= 2) {
    const stop = new AbortController();
    const running = start(settings, {}, openLog("silent"), stop.signal);
    await sleep(waitMs);
    stop.abort();
    await running;
    // One process can open a store only once.
    await using store = await openFeatureStore(made.url);
    const records = (await store.changes(undefined, 2000)) ?? [];
    // The feed itself removes those of one step, 200.
    if (records.filter(({ record }) => record.type === "expired").length === 600) break;
    expect(waitMs).toBeLessThan(30_000);
  }
});
