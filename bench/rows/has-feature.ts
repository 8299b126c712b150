import { request } from "undici";
import { startPostgres } from "../../testing/servers/postgres.ts";
import { startRedis } from "../../testing/servers/redis.ts";
import type { TestServer } from "../../testing/servers/server.ts";
import { asNpmStart } from "../../testing/services.ts";
import { type Server, startBaseline, startService } from "../programs.ts";
import type { Row } from "../row.ts";
import { expectSameResponses } from "../same-responses.ts";
import { compareThroughput, writeRequests } from "../wrk.ts";

/** The target for the ratio to `node:http`, which calls no store. */
const stores = [
  { store: "memory:", ofNodeHttp: 0.85 },
  { store: "lmdb:./features", ofNodeHttp: 0.7 },
];
const path = "/features/customer/42/dark-mode";

/** Starts the feature storage on a store, which then has the feature. */
async function startFeatures(store: string, opened: AsyncDisposableStack): Promise<Server> {
  const service = opened.use(await startService("features", { env: { FEATURES_STORE_URL: store } }));
  await request(service.url + path, { method: "POST" }).then(({ body }) => body.dump());
  return service;
}

const loadOf = async (seconds: number, opened: AsyncDisposableStack) => ({
  requests: await writeRequests(opened, [path]),
  connections: 64,
  seconds,
});

export const hasFeature: Row = {
  title: "has-feature",
  async open({ seconds }, opened) {
    const load = await loadOf(seconds, opened);
    const nodeHttp = opened.use(await startBaseline("has-feature.ts"));
    const comparisons = stores.map(async ({ store, ofNodeHttp }) => {
      const service = await startFeatures(store, opened);
      const env = { FEATURES_STORE_URL: store };
      const fastify = opened.use(await startBaseline("has-feature-fastify.ts", asNpmStart({ env })));
      const sameCall = { name: "Fastify, the same store call", url: fastify.url };
      const sameBytes = { name: "node:http, the same bytes", url: nodeHttp.url };
      return [
        compareThroughput(`${store}, ratio to Fastify`, service, sameCall, load, 0.92),
        compareThroughput(`${store}, ratio to node:http`, service, sameBytes, load, ofNodeHttp),
      ];
    });
    return (await Promise.all(comparisons)).flat();
  },
};

/** A row that compares the feature storage on a server with a baseline that sends the same command to it. */
const onServer = (
  title: string,
  start: () => Promise<TestServer>,
  { store, file, name, atLeast }: { store: string; file: string; name: string; atLeast: number },
): Row => ({
  title,
  async open({ seconds }, opened) {
    const { url } = opened.use(await start());
    const service = await startFeatures(url, opened);
    const env = { FEATURES_STORE_URL: url };
    const baseline = opened.use(await startBaseline(file, { env, path }));
    await expectSameResponses(service.url, baseline.url, [path]);
    const load = await loadOf(seconds, opened);
    return [compareThroughput(store, service, { name, url: baseline.url }, load, atLeast)];
  },
});

export const hasFeatureInRedis = onServer("has-feature on Redis", startRedis, {
  ...{ store: "redis:", file: "has-feature-redis.ts" },
  ...{ name: "node:http, the same command", atLeast: 0.85 },
});

export const hasFeatureInPostgres = onServer("has-feature on PostgreSQL", startPostgres, {
  ...{ store: "postgres:", file: "has-feature-postgres.ts" },
  ...{ name: "node:http, one statement on the same table", atLeast: 0.6 },
});
