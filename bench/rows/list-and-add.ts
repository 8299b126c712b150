import { request } from "undici";
import { startBaseline, startService } from "../programs.ts";
import type { Row } from "../row.ts";
import { compareThroughput, writeRequests } from "../wrk.ts";

const listPath = "/features/customer/42";
const featurePaths = Array.from({ length: 20 }, (_, index) => `${listPath}/feature-${index}`);
const otherPaths = Array.from({ length: 10_000 }, (_, index) => `/features/customer/c${index}/dark-mode`);

export const listAndAdd: Row = {
  title: "list 20 features; add and remove one",
  async open({ seconds }, opened) {
    const requests = {
      list: await writeRequests(opened, [listPath]),
      "add and remove": await writeRequests(
        opened,
        otherPaths.flatMap((path) => [`POST ${path}`, `DELETE ${path}`]),
      ),
    };
    const comparisons = ["memory:", "lmdb:./features"].map(async (store) => {
      const env = { FEATURES_STORE_URL: store };
      const service = opened.use(await startService("features", { env }));
      const baseline = opened.use(await startBaseline("features.ts", { env }));
      for (const { url } of [service, baseline]) {
        for (const path of featurePaths)
          await request(url + path, { method: "POST" }).then(({ body }) => body.dump());
      }
      const nodeHttp = { name: "node:http with the same store calls", url: baseline.url };
      return Object.entries(requests).map(([name, file]) => {
        const load = { requests: file, connections: 64, seconds };
        return compareThroughput(`${name}, ${store}`, service, nodeHttp, load, 0.85);
      });
    });
    return (await Promise.all(comparisons)).flat();
  },
};
