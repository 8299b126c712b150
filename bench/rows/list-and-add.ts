import { request } from "undici";
import { startBaseline, startService } from "../programs.ts";
import type { Row } from "../row.ts";
import { requestsFile, requestsPerSecond } from "../wrk.ts";

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
      const servers = [
        opened.use(await startService("features", { env })),
        opened.use(await startBaseline("features.ts", { env })),
      ] as const;
      for (const { url } of servers) {
        for (const path of features)
          await request(url + path, { method: "POST" }).then(({ body }) => body.dump());
      }
      return Object.entries(requests).map(([name, file]) => {
        const [ours, measure] = servers.map(
          ({ url }) =>
            () =>
              requestsPerSecond(url, { requests: file, connections: 64, seconds }),
        ) as [() => Promise<number>, () => Promise<number>];
        return {
          name: `${name}, ${store}`,
          unit: "requests/s",
          ours,
          baseline: { name: "node:http with the same store calls", measure },
          target: { atLeast: 0.85 },
        };
      });
    });
    return (await Promise.all(comparisons)).flat();
  },
};
