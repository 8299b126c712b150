import { postgresParameters } from "../../database/postgres/parameters.ts";
import type { Adapter, AdapterLog, Adapters, Warn } from "../../engines/adapter.ts";
import { openAdapter } from "../../engines/open-adapter.ts";
import { messageOf } from "../../process/describe-error.ts";
import { openNews } from "../../waiting/news.ts";
import { historyParameters, parameters, tlsParameters } from "./parameters.ts";
import type { FeatureStore } from "./store.ts";

const redis: Adapter<FeatureStore> = {
  form: "redis://HOST:6379 or rediss://HOST:6379",
  parameters,
  load: () => import("./redis/store.ts"),
};
const redisCluster: Adapter<FeatureStore> = {
  ...redis,
  form: "redis+cluster://HOST:6379,HOST:6379 or rediss+cluster://HOST:6379,HOST:6379",
  hasManyHosts: true,
};

const postgres: Adapter<FeatureStore> = {
  form: "postgres://USER:PASSWORD@HOST:5432,HOST:5432/DATABASE",
  parameters: { ...postgresParameters, ...historyParameters },
  load: () => import("./postgres/store.ts"),
  hasManyHosts: true,
  hostParameter: "host",
};

/** Its package contains a binary for each common platform only. */
function explainMissingBinary(cause: unknown): never {
  const [reason] = messageOf(cause).split("\n", 1);
  const advice =
    "set FEATURES_STORE_URL to redis://HOST:6379 or postgres://HOST:5432/DATABASE, or to memory:, which keeps nothing";
  throw new Error(`the package lmdb does not run on this machine (${reason}); ${advice}`, { cause });
}

export const featureStores = {
  "memory:": { form: "memory:", parameters: historyParameters, load: () => import("./ordered/memory.ts") },
  "lmdb:": {
    form: "lmdb:FOLDER",
    parameters: historyParameters,
    load: () => import("./ordered/lmdb.ts").catch(explainMissingBinary),
  },
  "redis:": redis,
  "rediss:": { ...redis, parameters: tlsParameters },
  "redis+cluster:": redisCluster,
  "rediss+cluster:": { ...redisCluster, parameters: tlsParameters },
  "postgres:": postgres,
  "postgresql:": postgres,
} satisfies Adapters<FeatureStore>;

/**
 * Opens a store. If its URL names several hosts, `warn` gets a text when another one becomes the primary. The log gets what
 * happens while the store is opened.
 */
export async function openFeatureStore(url: string, warn?: Warn, log?: AdapterLog): Promise<FeatureStore> {
  const store = await openAdapter<FeatureStore>(featureStores, url, warn, log);
  const news = openNews();
  return {
    ...store,
    news,
    async change(...request) {
      const outcome = await store.change(...request);
      news.emit("news");
      return outcome;
    },
  };
}
