import { accounts } from "../ledger-data.ts";
import { startBaseline, startLedger } from "../programs.ts";
import type { Row } from "../row.ts";
import { expectSameResponses } from "../same-responses.ts";
import { compareThroughput, writeRequests } from "../wrk.ts";

const path = `/v1/transaction?account_id=${accounts.big}&display_size=20`;

export const searchPage: Row = {
  title: "search, first page of 20",
  async open({ seconds, ledgers: sizes }, opened, ledgers) {
    const size = sizes.at(-1) as number;
    const databaseUrl = await ledgers.open(size);
    const service = opened.use(await startLedger(databaseUrl));
    const env = { DATABASE_URL: databaseUrl };
    const baseline = opened.use(await startBaseline("search-page.ts", { env }));
    await expectSameResponses(service.url, baseline.url, [path]);
    const load = { requests: await writeRequests(opened, [path]), connections: 16, seconds };
    const nodeHttp = { name: "node:http, the same SQL, JSON by hand", url: baseline.url };
    return [compareThroughput(`in an account of ${size / 10}`, service, nodeHttp, load, 0.8)];
  },
};
