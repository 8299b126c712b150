import { request } from "undici";
import { startBaseline, startService } from "../programs.ts";
import type { Row } from "../row.ts";
import { compareThroughput, writeRequests } from "../wrk.ts";

const path = "/features/customer/42/dark-mode";

export const hasFeature: Row = {
  number: 1,
  title: "has-feature",
  async open({ seconds }, opened) {
    const requests = await writeRequests(opened, [`GET ${path}`]);
    const baseline = opened.use(await startBaseline("has-feature.ts"));
    const load = { requests, connections: 64, seconds };
    const stores = ["memory:", "lmdb:./features"].map(async (store) => {
      const service = opened.use(await startService("features", { env: { FEATURES_STORE_URL: store } }));
      await request(service.url + path, { method: "POST" }).then(({ body }) => body.dump());
      return compareThroughput(
        store,
        service,
        { name: "node:http, the same bytes", url: baseline.url },
        load,
        0.85,
      );
    });
    return Promise.all(stores);
  },
};
