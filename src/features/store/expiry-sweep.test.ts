import { expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { startService } from "../../../testing/services.ts";
import { openLog } from "../../process/log.ts";
import { sweepExpired } from "./expiry-sweep.ts";
import { add, names, newLmdb, passTime, stopClock } from "./new-store.fixture.ts";
import { type FeatureStore, StoreFailure } from "./store.ts";
import { openFeatureStore } from "./stores.ts";

/** A store whose steps of the expiry are recorded: whether there may be more. */
function withOutcomes(store: FeatureStore) {
  const outcomes: boolean[] = [];
  const expire = async () => {
    const hasMore = await store.expire();
    outcomes.push(hasMore);
    return hasMore;
  };
  return { outcomes, store: { ...store, expire } };
}

async function countExpired(store: FeatureStore): Promise<number> {
  const records = (await store.changes(undefined, 10_000)) ?? [];
  return records.filter(({ record }) => record.type === "expired").length;
}

test("expired features are removed although nobody reads the feed", async () => {
  stopClock();
  const { outcomes, store } = withOutcomes(await openFeatureStore("memory:"));
  const additions = names(500).map((name) => add(name, Date.now() + 1));
  for (const id of ["1", "2", "3"]) await store.change("kind", id, additions);
  passTime(1);
  await using _sweep = sweepExpired(store, openLog("silent"));
  await eventually(() => expect(outcomes).toContain(false));
  expect(outcomes.length).toBeGreaterThan(2);
  expect(await countExpired(store)).toBe(1500);
});

test("one step runs at a time, and the disposal waits for it", async () => {
  let running = 0;
  const seen: string[] = [];
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const expire = async () => {
    expect(++running).toBe(1);
    if (seen.push("begun") > 6) await held;
    seen.push("ended");
    running -= 1;
    return true;
  };
  const sweep = sweepExpired({ ...(await openFeatureStore("memory:")), expire }, openLog("silent"));
  await eventually(() => expect(seen).toHaveLength(7));
  const disposed = sweep[Symbol.asyncDispose]().then(() => seen.push("disposed"));
  release();
  await disposed;
  expect(seen.slice(6)).toEqual(["begun", "ended", "disposed"]);
});

test("an outage of the store is logged when it begins and when it ends", async () => {
  const lines: string[] = [];
  const failing = new StoreFailure("unavailable");
  const outcomes = [failing, failing, true, failing, failing];
  const expire = async () => {
    const outcome = outcomes.shift() ?? false;
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
  const log = openLog("info", { write: (line) => lines.push(line) });
  await using _sweep = sweepExpired({ ...(await openFeatureStore("memory:")), expire }, log, 1);
  await eventually(() => expect(lines).toHaveLength(2));
  expect(outcomes).toEqual([]);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { msg: expect.stringMatching(/^expired features cannot be removed/) },
    { msg: expect.stringMatching(/^ended: expired features cannot be removed/), failures: 4 },
  ]);
});

test("the service removes them while it runs", async () => {
  await using made = await newLmdb();
  await using store = await openFeatureStore(made.url);
  const additions = names(600).map((name) => add(name, Date.now() + 1));
  await store.change("kind", "1", additions);
  await using _service = await startService("features", { env: { FEATURES_STORE_URL: made.url } });
  // Unlike a read of the feed, this one removes nothing.
  await eventually(async () => expect(await store.featuresInUse("kind", undefined, 1000)).toEqual([]));
  expect(await countExpired(store)).toBe(600);
});
