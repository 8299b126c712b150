import { request } from "undici";
import { asNpmStart } from "../../testing/services.ts";
import { startBaseline, startService } from "../programs.ts";
import type { Row } from "../row.ts";
import { compareThroughput, writeRequests } from "../wrk.ts";

/** The target for the ratio to `node:http`, which calls no store. */
const stores = [
  { store: "memory:", ofNodeHttp: 0.85 },
  { store: "lmdb:./features", ofNodeHttp: 0.7 },
];
const path = "/features/customer/42/dark-mode";

export const hasFeature: Row = {
  number: 1,
  title: "has-feature",
  async open({ seconds }, opened) {
    const requests = await writeRequests(opened, [`GET ${path}`]);
    const load = { requests, connections: 64, seconds };
    const nodeHttp = opened.use(await startBaseline("has-feature.ts"));
    const comparisons = stores.map(async ({ store, ofNodeHttp }) => {
      const env = { FEATURES_STORE_URL: store };
      const service = opened.use(await startService("features", { env }));
      await request(service.url + path, { method: "POST" }).then(({ body }) => body.dump());
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
