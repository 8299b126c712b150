import { request } from "undici";
import { startBaseline, startService } from "../programs.ts";
import type { Row } from "../row.ts";
import { requestsFile, underLoad } from "../wrk.ts";

const list = "/features/customer/42";
const features = Array.from({ length: 20 }, (_, index) => `${list}/feature-${index}`);
const resources = Array.from({ length: 10_000 }, (_, index) => `/features/customer/c${index}/dark-mode`);

export const listAndAdd: Row = {
  number: 3,
  work: "a list of 20 features; adding and removing one",
  async open({ seconds }, opened) {
    const requests = {
      list: await requestsFile(opened, [`GET ${list}`]),
      "add and remove": await requestsFile(
        opened,
        resources.flatMap((path) => [`POST ${path}`, `DELETE ${path}`]),
      ),
    };
    const comparisons = ["memory:", "lmdb:./features"].map(async (store) => {
      const env = { FEATURES_STORE_URL: store };
      const service = opened.use(await startService("features", { env }));
      const baseline = opened.use(await startBaseline("features.ts", { env }));
      for (const { url } of [service, baseline]) {
        for (const path of features)
          await request(url + path, { method: "POST" }).then(({ body }) => body.dump());
      }
      const byHand = { name: "node:http with the same store calls", url: baseline.url };
      return Object.entries(requests).map(([name, file]) => {
        const load = { requests: file, connections: 64, seconds };
        return underLoad(`${name}, ${store}`, service, byHand, load, 0.85);
      });
    });
    return (await Promise.all(comparisons)).flat();
  },
};
