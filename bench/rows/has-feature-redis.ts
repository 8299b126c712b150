import { request } from "undici";
import { startRedis } from "../../testing/servers/redis.ts";
import { startBaseline, startService } from "../programs.ts";
import type { Row } from "../row.ts";
import { expectSameResponses } from "../same-responses.ts";
import { compareThroughput, writeRequests } from "../wrk.ts";

const path = "/features/customer/42/dark-mode";

export const hasFeatureInRedis: Row = {
  number: 2,
  title: "has-feature on Redis",
  async open({ seconds }, opened) {
    const { url } = opened.use(await startRedis());
    const service = opened.use(await startService("features", { env: { FEATURES_STORE_URL: url } }));
    const baseline = opened.use(
      await startBaseline("has-feature-redis.ts", { env: { REDIS_URL: url }, path }),
    );
    await request(service.url + path, { method: "POST" }).then(({ body }) => body.dump());
    await expectSameResponses(service.url, baseline.url, [path]);
    const load = { requests: await writeRequests(opened, [`GET ${path}`]), connections: 64, seconds };
    const sameCommand = { name: "node:http, the same command", url: baseline.url };
    return [compareThroughput("redis:", service, sameCommand, load, 0.85)];
  },
};
