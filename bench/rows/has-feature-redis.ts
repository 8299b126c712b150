import { request } from "undici";
import { startRedis } from "../../testing/servers/redis.ts";
import { startService } from "../programs.ts";
import type { Row } from "../row.ts";
import { startWebdis } from "../webdis.ts";
import { requestsPerSecond, writeRequests } from "../wrk.ts";

const path = "/features/customer/42/dark-mode";

/** Reads a field of a hash, as the service does for `path`. */
const webdisPath = "/HGET/customer:42/dark-mode";

export const hasFeatureInRedis: Row = {
  number: 2,
  title: "has-feature on Redis",
  async open({ seconds }, opened) {
    const redis = opened.use(await startRedis());
    const service = opened.use(await startService("features", { env: { FEATURES_STORE_URL: redis.url } }));
    const webdis = opened.use(await startWebdis(new URL(redis.url)));
    await request(service.url + path, { method: "POST" }).then(({ body }) => body.dump());
    await request(webdis.url + webdisPath.replace("HGET", "HSET").concat("/1")).then(({ body }) =>
      body.dump(),
    );
    const rate = async (url: string, target: string) => {
      const load = { requests: await writeRequests(opened, [`GET ${target}`]), connections: 64, seconds };
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
