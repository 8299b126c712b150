import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, vi } from "vitest";
import { describeOnAdapters, type Fixtures } from "../../../testing/describe-adapters.ts";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { isPostgresInstalled, startPostgres } from "../../../testing/servers/postgres.ts";
import { isRedisInstalled, startRedis, startRedisCluster } from "../../../testing/servers/redis.ts";
import { exchangeBytes } from "../../../testing/servers/server.ts";
import { newPostgres } from "../../database/new-database.fixture.ts";
import {
  type Entry,
  type FeatureStore,
  type featureStores,
  openFeatureStore,
  StoreFailure,
} from "./store.ts";

/** A new empty store. Its URL has no parameters. */
export interface NewStore extends AsyncDisposable {
  url: string;
}

/** Opens a new store. */
export async function openNewStore(make: () => Promise<NewStore>, parameters = ""): Promise<FeatureStore> {
  const made = await make();
  const store = await openFeatureStore(made.url + parameters);
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
    return await (await import("./store.ts")).openFeatureStore(url);
  } finally {
    vi.doUnmock("./store.ts");
    vi.resetModules();
  }
}

/** The names of the features of a resource, oldest first. */
export const featuresOf = async (store: FeatureStore, resource: string, id: string) =>
  (await store.list(resource, id)).map(({ feature }) => feature);

/** All ids that have a feature, read in pages. */
export async function allIdsWith(store: FeatureStore, resource: string, feature: string, limit: number) {
  const pages: string[][] = [];
  do pages.push(await store.idsWith(resource, feature, pages.at(-1)?.at(-1), limit));
  while (pages.at(-1)?.length === limit);
  return pages.flat();
}

/** All entries of the resources of a kind, read in pages. */
export async function allEntriesOf(store: FeatureStore, resource: string, limit: number): Promise<Entry[]> {
  const pages: Entry[][] = [];
  do pages.push(await store.entriesOf(resource, pages.at(-1)?.at(-1), limit));
  while (pages.at(-1)?.length === limit);
  return pages.flat();
}

const newMemory = async (): Promise<NewStore> => ({ url: "memory:", async [Symbol.asyncDispose]() {} });

/** The name of the folder must be percent-encoded and looks like the name of a file. */
export async function newLmdb(): Promise<NewStore> {
  const folder = await mkdtemp(join(tmpdir(), "embedded store.v1-"));
  return {
    url: `lmdb:${encodeURI(folder)}`,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** Makes stores on servers. A server whose store is disposed of is emptied and used again. */
function storesOnServers<Server extends AsyncDisposable & { url: string }>(
  start: () => Promise<Server>,
  nodesOf: (server: Server) => { url: string }[],
): () => Promise<NewStore> {
  const servers = new AsyncDisposableStack();
  afterAll(() => servers.disposeAsync());
  const free: Server[] = [];
  return async () => {
    const server = free.pop() ?? servers.use(await start());
    for (const { url } of nodesOf(server)) await exchangeBytes(url, "FLUSHALL\r\n", "+OK");
    return {
      url: server.url,
      async [Symbol.asyncDispose]() {
        free.push(server);
      },
    };
  };
}

/** Makes stores in new databases of one server. */
function storesOnPostgres(): () => Promise<NewStore> {
  const opened = new AsyncDisposableStack();
  afterAll(() => opened.disposeAsync());
  let server: ReturnType<typeof startPostgres> | undefined;
  return async () => {
    server ??= startPostgres().then((started) => opened.use(started));
    return await newPostgres((await server).url);
  };
}

const describeOnRedis = describeIfAvailable("Redis", isRedisInstalled());

/** The fixtures of the stores that several processes can share. */
const sharedFixtures: Fixtures<Exclude<keyof typeof featureStores, "memory:">, NewStore> = {
  "lmdb:": (title, tests) => describe(title, () => tests(newLmdb)),
  "redis:": (title, tests) =>
    describeOnRedis(title, () => tests(storesOnServers(startRedis, (server) => [server]))),
  "rediss:": { sameAs: "redis:" },
  "redis+cluster:": (title, tests) =>
    describeOnRedis(title, () => tests(storesOnServers(startRedisCluster, ({ nodes }) => nodes))),
  "rediss+cluster:": { sameAs: "redis+cluster:" },
  "postgres:": (title, tests) =>
    describeIfAvailable("PostgreSQL", isPostgresInstalled())(title, () => tests(storesOnPostgres())),
  "postgresql:": { sameAs: "postgres:" },
};

const inMemory: Fixtures<"memory:", NewStore> = {
  "memory:": (title, tests) => describe(title, () => tests(newMemory)),
};

export const storeFixtures: Fixtures<keyof typeof featureStores, NewStore> = {
  ...inMemory,
  ...sharedFixtures,
};

/** The fixtures of the stores that can keep their history. */
const historyFixtures = {
  ...inMemory,
  "lmdb:": sharedFixtures["lmdb:"],
  "postgres:": sharedFixtures["postgres:"],
};

/** The limit for a response is 2 seconds; a busy machine notices a timeout much later. */
export const failsWithinMs = 10_000;

/** A call of each method of a store. */
export const calls: Record<string, (store: FeatureStore) => Promise<unknown>> = {
  list: (store) => store.list("kind", "1"),
  has: (store) => store.has("kind", "1", ["a"]),
  change: (store) => store.change("kind", "1", [{ type: "add", feature: "lost" }]),
  idsWith: (store) => store.idsWith("kind", "a", undefined, 10),
  count: (store) => store.count("kind", "a"),
  featuresInUse: (store) => store.featuresInUse("kind", 10),
  entriesOf: (store) => store.entriesOf("kind", undefined, 10),
  changes: (store) => store.changes(undefined, 10),
  newest: (store) => store.newest(),
  expire: (store) => store.expire(),
  entries: (store) => Array.fromAsync(store.entries()),
};

/** Expects that each call rejects with this message within the limit. */
export async function expectFailures(store: FeatureStore, message: string | RegExp): Promise<void> {
  const startedAt = performance.now();
  for (const outcome of await Promise.allSettled(Object.values(calls).map((call) => call(store)))) {
    expect(outcome).toEqual({ status: "rejected", reason: expect.any(StoreFailure) });
    const { reason } = outcome as PromiseRejectedResult;
    expect(reason.message).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
  }
  expect(performance.now() - startedAt).toBeLessThan(failsWithinMs);
}

type Tests = (make: () => Promise<NewStore>) => void;

/** Describes tests of every store that several processes can share. */
export const describeOnSharedStores = (title: string, tests: Tests) =>
  describeOnAdapters(title, sharedFixtures, tests);

/** Describes tests of every store that can keep its history. */
export const describeOnStoresWithHistory = (title: string, tests: Tests) =>
  describeOnAdapters(title, historyFixtures, tests);

/** Describes tests of every store. */
export const describeOnStores = (title: string, tests: Tests) =>
  describeOnAdapters(title, storeFixtures, tests);
