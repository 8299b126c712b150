import { request } from "undici";
import { startRedis } from "../../testing/servers/redis.ts";
import { startService } from "../programs.ts";
import type { Row } from "../row.ts";
import { startWebdis } from "../webdis.ts";
import { requestsFile, requestsPerSecond } from "../wrk.ts";

const path = "/features/customer/42/dark-mode";

/** Webdis has no words for a feature; it is asked for the field of a hash, as the service asks Redis. */
const webdisPath = "/HGET/customer:42/dark-mode";

export const hasFeatureInRedis: Row = {
  number: 2,
  work: "has-feature, kept in Redis",
  async open({ seconds }, opened) {
    const redis = opened.use(await startRedis());
    const service = opened.use(await startService("features", { env: { FEATURES_STORE_URL: redis.url } }));
    const webdis = opened.use(await startWebdis(new URL(redis.url)));
    await request(service.url + path, { method: "POST" }).then(({ body }) => body.dump());
    await request(webdis.url + webdisPath.replace("HGET", "HSET").concat("/1")).then(({ body }) =>
      body.dump(),
    );
    const rate = async (url: string, asked: string) => {
      const load = { requests: await requestsFile(opened, [`GET ${asked}`]), connections: 64, seconds };
      return () => requestsPerSecond(url, load);
    };
    return [
      {
        name: "redis:",
        unit: "requests/s",
        ours: await rate(service.url, path),
        baseline: { name: "Webdis", measure: await rate(webdis.url, webdisPath) },
        target: { atLeast: 1.5 },
      },
    ];
  },
};
