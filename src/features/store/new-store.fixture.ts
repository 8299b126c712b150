import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, vi } from "vitest";
import { describeOnAdapters, type Fixtures } from "../../../testing/describe-adapters.ts";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { runOn, startPostgres } from "../../../testing/servers/postgres.ts";
import { startRedis, startRedisCluster } from "../../../testing/servers/redis.ts";
import { exchangeBytes } from "../../../testing/servers/server.ts";
import { newPostgres } from "../../database/new-database.fixture.ts";
import { type Entry, type FeatureChange, type FeatureStore, StoreFailure } from "./store.ts";
import { type featureStores, openFeatureStore } from "./stores.ts";

/** A new empty store. Its URL has no parameters. */
export interface NewStore extends AsyncDisposable {
  url: string;
  /** Gives the store the clock of the tests. Default: it has the clock of this process. */
  withClock?(store: FeatureStore): Promise<FeatureStore>;
}

/** Opens a new store. */
export async function openNewStore(make: () => Promise<NewStore>, parameters = ""): Promise<FeatureStore> {
  const made = await make();
  const opened = await openFeatureStore(made.url + parameters);
  const store = (await made.withClock?.(opened)) ?? opened;
  return {
    ...store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await made[Symbol.asyncDispose]();
    },
  };
}

/** Opens a store as a previous release did, which had no limit for the features of a resource. */
export async function openUnlimited(url: string): Promise<FeatureStore> {
  vi.resetModules();
  vi.doMock("./store.ts", async (original) => ({ ...(await original<object>()), featuresMax: 1_000_000 }));
  try {
    return await (await import("./stores.ts")).openFeatureStore(url);
  } finally {
    vi.doUnmock("./store.ts");
    vi.resetModules();
  }
}

export const add = (feature: string, expiresAt?: number): FeatureChange => ({
  type: "add",
  feature,
  expiresAt,
});
export const remove = (feature: string): FeatureChange => ({ type: "remove", feature });
/** So many names: 0, 1, 2 and so on. */
export const names = (count: number) => Array.from({ length: count }, (_, index) => String(index));

/**
 * Stops the clock until the end of the test. Every store takes the time from the process that calls it, so a test decides
 * what has expired.
 */
export function stopClock(at = Date.now()): void {
  onTestFinished(() => void vi.useRealTimers());
  vi.setSystemTime(at);
}

/** Lets the functions of a store in PostgreSQL use the clock of the tests, if that is stopped. */
async function withClockInDatabase({ url }: { url: string }, store: FeatureStore): Promise<FeatureStore> {
  await runOn(
    { url },
    `create table if not exists feature_storage.stopped_clock (ms bigint);
    create or replace function feature_storage.clock_ms() returns bigint volatile language sql as $$
      select coalesce(
        (select ms from feature_storage.stopped_clock), floor(extract(epoch from clock_timestamp()) * 1000)::bigint
      )
    $$`,
  );
  let present: number | undefined;
  let isSet: Promise<unknown> = Promise.resolve();
  return {
    ...store,
    async change(...change) {
      const stopped = vi.getMockedSystemTime()?.getTime();
      if (stopped !== undefined && stopped !== present) {
        present = stopped;
        isSet = runOn(
          { url },
          `truncate feature_storage.stopped_clock; insert into feature_storage.stopped_clock values (${stopped})`,
        );
      }
      await isSet;
      return await store.change(...change);
    },
  };
}

/** Moves the clock, which must be stopped. */
export const passTime = (milliseconds: number) => void vi.setSystemTime(Date.now() + milliseconds);

/** The names of the features of a resource, oldest first. */
export const featuresOf = async (store: FeatureStore, resource: string, id: string) =>
  (await store.list(resource, id)).map(({ feature }) => feature);

/** All items of a list that is read in pages. */
async function allPages<Item>(read: (after: Item | undefined) => Promise<Item[]>, limit: number) {
  const pages: Item[][] = [];
  do pages.push(await read(pages.at(-1)?.at(-1)));
  while (pages.at(-1)?.length === limit);
  return pages.flat();
}

/** All ids that have a feature, read in pages. */
export const allIdsWith = (store: FeatureStore, resource: string, feature: string, limit: number) =>
  allPages<string>(async (after) => (await store.idsWith(resource, feature, after, limit)).ids, limit);

/** All features in use for a kind, read in pages. */
export const allFeaturesInUse = (store: FeatureStore, resource: string, limit: number) =>
  allPages<string>((after) => store.featuresInUse(resource, after, limit), limit);

/** All kinds in use, read in pages. */
export const allKinds = (store: FeatureStore, limit: number) =>
  allPages<string>((after) => store.kinds(after, limit), limit);

/** All entries of the resources of a kind, read in pages. */
export const allEntriesOf = (store: FeatureStore, resource: string, limit: number) =>
  allPages<Entry>((after) => store.entriesOf(resource, after, limit), limit);

const newMemory = async (): Promise<NewStore> => ({ url: "memory:", async [Symbol.asyncDispose]() {} });

/** The name of the folder must be percent-encoded and looks like the name of a file. */
export async function newLmdb(): Promise<NewStore> {
  const folder = await mkdtemp(join(tmpdir(), "embedded store.v1-"));
  return {
    url: `lmdb:${encodeURI(folder)}`,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** Makes stores that are emptied after their use and used again. They are started when a test of the file needs them. */
function reused<Store extends { url: string }>(
  start: (opened: AsyncDisposableStack) => Promise<Store>,
  empty: (store: Store) => Promise<unknown>,
  withClock?: (made: { url: string }, store: FeatureStore) => Promise<FeatureStore>,
): () => Promise<NewStore> {
  const opened = new AsyncDisposableStack();
  afterAll(() => opened.disposeAsync());
  const free: Store[] = [];
  return async () => {
    const store = free.pop() ?? (await start(opened));
    await empty(store);
    return {
      url: store.url,
      ...(withClock && { withClock: (opened: FeatureStore) => withClock(store, opened) }),
      async [Symbol.asyncDispose]() {
        free.push(store);
      },
    };
  };
}

const flush = ({ url }: { url: string }) => exchangeBytes(url, "FLUSHALL\r\n", "+OK");
const newRedis = reused(async (opened) => opened.use(await startRedis()), flush);
const newRedisCluster = reused(
  async (opened) => opened.use(await startRedisCluster()),
  ({ nodes }) => Promise.all(nodes.map(flush)),
);

/** Leaves the tables, which take longer to create than most tests. */
const emptySchema = `do $$ begin
  if to_regclass('feature_storage.feed') is not null then
    truncate feature_storage.change, feature_storage.feature, feature_storage.feature_use,
      feature_storage.resource_life, feature_storage.feature_list;
    update feature_storage.feed set log = substr(gen_random_uuid()::text, 1, 8), first_number = 1;
  end if;
  if to_regclass('feature_storage.stopped_clock') is not null then
    truncate feature_storage.stopped_clock;
  end if;
end $$`;

let postgres: ReturnType<typeof startPostgres> | undefined;
const newPostgresStore = reused(
  async (opened) => {
    postgres ??= startPostgres().then((server) => opened.use(server));
    return await newPostgres((await postgres).url);
  },
  (made) => runOn(made, emptySchema),
  withClockInDatabase,
);

/** Each file starts a server of its own, to empty it, but only beside the servers of all tests, since that takes long. */
const describeWith = (variable: string) => describeIfAvailable(variable, process.env[variable] !== undefined);

/** The fixtures of the stores that several processes can share. */
const sharedFixtures: Fixtures<Exclude<keyof typeof featureStores, "memory:">, NewStore> = {
  "lmdb:": (title, tests) => describe(title, () => tests(newLmdb)),
  "redis:": (title, tests) => describeWith("TEST_REDIS_URL")(title, () => tests(newRedis)),
  "rediss:": { sameAs: "redis:" },
  "redis+cluster:": (title, tests) =>
    describeWith("TEST_REDIS_CLUSTER_URL")(title, () => tests(newRedisCluster)),
  "rediss+cluster:": { sameAs: "redis+cluster:" },
  "postgres:": (title, tests) => describeWith("TEST_POSTGRES_URL")(title, () => tests(newPostgresStore)),
  "postgresql:": { sameAs: "postgres:" },
};

export const storeFixtures: Fixtures<keyof typeof featureStores, NewStore> = {
  "memory:": (title, tests) => describe(title, () => tests(newMemory)),
  ...sharedFixtures,
};

/** The fixtures of the stores that several processes can share and that can keep their history. */
const sharedHistoryFixtures = {
  "lmdb:": sharedFixtures["lmdb:"],
  "postgres:": sharedFixtures["postgres:"],
};

/** A call of each method of a store. */
export const calls: Record<string, (store: FeatureStore) => Promise<unknown>> = {
  list: (store) => store.list("kind", "1"),
  has: (store) => store.has("kind", "1", ["a"]),
  hasEach: (store) => store.hasEach([{ resource: "kind", id: "1" }], ["a"]),
  change: (store) => store.change("kind", "1", [{ type: "add", feature: "lost" }]),
  idsWith: (store) => store.idsWith("kind", "a", undefined, 10),
  counts: (store) => store.counts("kind", ["a"]),
  featuresInUse: (store) => store.featuresInUse("kind", undefined, 10),
  kinds: (store) => store.kinds(undefined, 10),
  entriesOf: (store) => store.entriesOf("kind", undefined, 10),
  changes: (store) => store.changes(undefined, 10),
  newest: (store) => store.newest(),
  expire: (store) => store.expire(),
  entries: (store) => Array.fromAsync(store.entries()),
};

/** Expects that each call rejects with this message. */
export async function expectFailures(store: FeatureStore, message: string | RegExp): Promise<void> {
  for (const outcome of await Promise.allSettled(Object.values(calls).map((call) => call(store)))) {
    expect(outcome).toEqual({ status: "rejected", reason: expect.any(StoreFailure) });
    const { reason } = outcome as PromiseRejectedResult;
    expect(reason.message).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
  }
}

const describeOn =
  (fixtures: Fixtures<string, NewStore>) => (title: string, tests: (make: () => Promise<NewStore>) => void) =>
    describeOnAdapters(title, fixtures, tests);

/** Each describes tests of every store, or of those that several processes can share or that can keep their history. */
export const describeOnStores = describeOn(storeFixtures);
export const describeOnSharedStores = describeOn(sharedFixtures);
export const describeOnStoresWithHistory = describeOn({
  "memory:": storeFixtures["memory:"],
  ...sharedHistoryFixtures,
});
export const describeOnSharedStoresWithHistory = describeOn(sharedHistoryFixtures);
