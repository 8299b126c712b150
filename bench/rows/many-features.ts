import { request } from "undici";
import { startPostgres } from "../../testing/servers/postgres.ts";
import { startRedis } from "../../testing/servers/redis.ts";
import type { TestServer } from "../../testing/servers/server.ts";
import { startBaseline, startService } from "../programs.ts";
import type { Comparison, Row } from "../row.ts";
import { expectSameResponses } from "../same-responses.ts";
import { compareThroughput, writeRequests } from "../wrk.ts";

const connections = 16;
const features = Array.from({ length: 50 }, (_, index) => `feature-${index}`);
const ids = Array.from({ length: 100 }, (_, index) => `id-${index}`);
const resourceNames = ids.slice(0, 50).map((id) => ({ resource: "customer", id }));

const kinds = [
  {
    name: "evaluation of 50 flags",
    line: `POST /ofrep/v1/evaluate/flags ${JSON.stringify({ context: { targetingKey: "customer/id-1" } })}`,
  },
  { name: "20 resources with a feature", line: "GET /features/customer?feature=feature-1&limit=20" },
  { name: "100 resources with a feature", line: "GET /features/customer?feature=feature-1&limit=100" },
  {
    name: "query of 50 resources",
    line: `POST /query ${JSON.stringify({ resources: resourceNames, features: ["feature-1"] })}`,
  },
];

export const manyFeatures: Row = {
  title: "many features in one request",
  async open({ seconds }, opened) {
    const comparisons: Comparison[] = [];
    for (const [store, start] of [
      ["redis:", startRedis],
      ["postgres:", startPostgres],
    ] as [string, () => Promise<TestServer>][]) {
      const { url } = opened.use(await start());
      const env = { FEATURES_STORE_URL: url };
      const service = opened.use(await startService("features", { env }));
      await addFeatures(service.url);
      const path = "/features/customer?feature=feature-1&limit=20";
      const baseline = opened.use(await startBaseline("many-features.ts", { env, path }));
      for (const { name, line } of kinds) {
        await expectSameResponses(service.url, baseline.url, [line]);
        const load = { requests: await writeRequests(opened, [line]), connections, seconds };
        const client = { name: "node:http and the client of the engine", url: baseline.url };
        comparisons.push(compareThroughput(`${store} ${name}`, service, client, load, 0.5));
      }
    }
    return comparisons;
  },
};

/** Resources have the feature that the pages ask for; every second one has all. */
async function addFeatures(url: string): Promise<void> {
  for (const [index, id] of ids.entries()) {
    const names = index % 2 === 0 ? features : ["feature-1"];
    const changes = names.map((feature) => ({ type: "add", resource: "customer", id, feature }));
    const { statusCode, body } = await request(`${url}/changes`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ changes }),
    });
    if (statusCode !== 200) throw new Error(`the changes were refused: ${await body.text()}`);
    await body.dump();
  }
}
