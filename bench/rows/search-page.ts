import { accounts } from "../ledger-data.ts";
import { startBaseline, startLedger } from "../programs.ts";
import type { Row } from "../row.ts";
import { expectSameResponses } from "../same-responses.ts";
import { compareThroughput, writeRequests } from "../wrk.ts";

const displaySizes = [20, 100];

const pathOf = (displaySize: number) =>
  `/v1/transaction?account_id=${accounts.big}&display_size=${displaySize}`;

export const searchPage: Row = {
  title: "search, first page of 20 and of 100",
  async open({ seconds, ledgers: sizes }, opened, ledgers) {
    const size = sizes.at(-1) as number;
    const databaseUrl = await ledgers.open(size);
    const service = opened.use(await startLedger(databaseUrl));
    const env = { DATABASE_URL: databaseUrl };
    const baseline = opened.use(await startBaseline("search-page.ts", { env }));
    await expectSameResponses(service.url, baseline.url, displaySizes.map(pathOf));
    const nodeHttp = { name: "node:http, the same SQL, JSON by hand", url: baseline.url };
    const comparisons = displaySizes.map(async (displaySize) => {
      const requests = await writeRequests(opened, [pathOf(displaySize)]);
      const name = `${displaySize} in an account of ${size / 10}`;
      return compareThroughput(name, service, nodeHttp, { requests, connections: 16, seconds }, 0.9);
    });
    return Promise.all(comparisons);
  },
};
