import { accounts } from "../ledger-data.ts";
import { startBaseline, startLedger } from "../programs.ts";
import type { Row } from "../row.ts";
import { expectSameAnswers } from "../same-answers.ts";
import { requestsFile, underLoad } from "../wrk.ts";

const path = `/v1/transaction?account_id=${accounts.big}&display_size=20`;

export const searchPage: Row = {
  number: 5,
  work: "search, first page of 20",
  async open({ seconds, ledgers: sizes }, opened, ledgers) {
    const size = sizes.at(-1) as number;
    const databaseUrl = await ledgers.open(size);
    const service = opened.use(await startLedger(databaseUrl));
    const baseline = opened.use(
      await startBaseline("search-page.ts", { env: { DATABASE_URL: databaseUrl } }),
    );
    await expectSameAnswers(service.url, baseline.url, [path]);
    const load = { requests: await requestsFile(opened, [`GET ${path}`]), connections: 16, seconds };
    const byHand = { name: "node:http, the same SQL, JSON by hand", url: baseline.url };
    return [underLoad(`in an account of ${size / 10}`, service, byHand, load, 0.8)];
  },
};
