import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe } from "vitest";
import { describeOnAdapters, type Fixtures } from "../../../testing/describe-adapters.ts";
import { describeNeeding } from "../../../testing/describe-needing.ts";
import { isRedisInstalled, startRedis, startRedisCluster } from "../../../testing/servers/redis.ts";
import { converse } from "../../../testing/servers/server.ts";
import { type FeatureStore, type featureStores, openFeatureStore } from "./store.ts";

/** An empty store of a test's own, without parameters in its URL. */
export interface NewStore extends AsyncDisposable {
  url: string;
}

/** A new store, opened. */
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

/** Every page of the ids that have a feature. */
export async function allIdsWith(store: FeatureStore, resource: string, feature: string, limit: number) {
  const pages: string[][] = [];
  do pages.push(await store.idsWith(resource, feature, pages.at(-1)?.at(-1), limit));
  while (pages.at(-1)?.length === limit);
  return pages.flat();
}

const newMemory = async (): Promise<NewStore> => ({ url: "memory:", async [Symbol.asyncDispose]() {} });

/** In a folder whose name has to be encoded, and looks like a file's. */
export async function newLmdb(): Promise<NewStore> {
  const folder = await mkdtemp(join(tmpdir(), "embedded store.v1-"));
  return {
    url: `lmdb:${encodeURI(folder)}`,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** What is kept on servers: each that was used is emptied and used again. */
function serversOf<Server extends AsyncDisposable & { url: string }>(
  start: () => Promise<Server>,
  nodesOf: (server: Server) => { url: string }[],
): () => Promise<NewStore> {
  const started = new AsyncDisposableStack();
  afterAll(() => started.disposeAsync());
  const free: Server[] = [];
  return async () => {
    const server = free.pop() ?? started.use(await start());
    for (const { url } of nodesOf(server)) await converse(url, "FLUSHALL\r\n", "+OK");
    return {
      url: server.url,
      async [Symbol.asyncDispose]() {
        free.push(server);
      },
    };
  };
}

const describeOnRedis = describeNeeding("Redis", isRedisInstalled());

/** Those of stores that several processes can share. */
const sharedFixtures: Fixtures<Exclude<keyof typeof featureStores, "memory:">, NewStore> = {
  "lmdb:": (title, tests) => describe(title, () => tests(newLmdb)),
  "redis:": (title, tests) =>
    describeOnRedis(title, () => tests(serversOf(startRedis, (server) => [server]))),
  "rediss:": { sameAs: "redis:" },
  "redis+cluster:": (title, tests) =>
    describeOnRedis(title, () => tests(serversOf(startRedisCluster, ({ nodes }) => nodes))),
  "rediss+cluster:": { sameAs: "redis+cluster:" },
};

export const storeFixtures: Fixtures<keyof typeof featureStores, NewStore> = {
  "memory:": (title, tests) => describe(title, () => tests(newMemory)),
  ...sharedFixtures,
};

type Tests = (make: () => Promise<NewStore>) => void;

/** Describes tests of what must be the same in each store that several processes can share. */
export const describeOnSharedStores = (title: string, tests: Tests) =>
  describeOnAdapters(title, sharedFixtures, tests);

/** Describes tests of what must be the same in each store. */
export const describeOnStores = (title: string, tests: Tests) =>
  describeOnAdapters(title, storeFixtures, tests);
