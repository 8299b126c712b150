import { request } from "undici";
import { startPostgres } from "../../testing/servers/postgres.ts";
import { startBaseline, startService } from "../programs.ts";
import type { Row } from "../row.ts";
import { expectSameResponses } from "../same-responses.ts";
import { compareThroughput, writeRequests } from "../wrk.ts";

const path = "/features/customer/42/dark-mode";

export const hasFeatureInPostgres: Row = {
  number: 13,
  title: "has-feature on PostgreSQL",
  async open({ seconds }, opened) {
    const { url } = opened.use(await startPostgres());
    const service = opened.use(await startService("features", { env: { FEATURES_STORE_URL: url } }));
    await request(service.url + path, { method: "POST" }).then(({ body }) => body.dump());
    const baseline = opened.use(
      await startBaseline("has-feature-postgres.ts", { env: { DATABASE_URL: url }, path }),
    );
    await expectSameResponses(service.url, baseline.url, [path]);
    const load = { requests: await writeRequests(opened, [`GET ${path}`]), connections: 64, seconds };
    const sameTable = { name: "node:http, one statement on the same table", url: baseline.url };
    return [compareThroughput("postgres:", service, sameTable, load, 0.6)];
  },
};
