import { request } from "undici";
import { openDatabase } from "../../src/ledger/database/database.ts";
import {
  accounts,
  type Ledgers,
  lookupPath,
  type SomeTransaction,
  someTransactions,
} from "../ledger-data.ts";
import { startLedger } from "../programs.ts";
import type { Comparison, Row } from "../row.ts";
import { requestsFile, requestsPerSecond } from "../wrk.ts";

const sampled = 10_000;

/** Does the same work in ledgers of several sizes; what it takes in the smallest is the baseline. */
export const growth: Row = {
  number: 8,
  work: "growth with the ledger",
  async open({ seconds, ledgers: sizes }, opened, ledgers) {
    const sized: SizedLedger[] = [];
    for (const size of sizes) sized.push(await openSized(size, opened, ledgers));
    const [smallest, ...larger] = sized as [SizedLedger, ...SizedLedger[]];
    const measure = (url: string, requests: string) => async () =>
      1000 / (await requestsPerSecond(url, { requests, connections: 1, seconds }));
    return larger.flatMap(({ size, url, kinds }) =>
      Object.entries(kinds).map(
        ([kind, requests]): Comparison => ({
          name: `${kind}, ${size} transactions`,
          unit: "ms",
          ours: measure(url, requests),
          baseline: {
            name: `${smallest.size} transactions`,
            measure: measure(smallest.url, smallest.kinds[kind as Kind]),
          },
          ...(kind !== exactTotal && { target: { atMost: 1.5 } }),
        }),
      ),
    );
  },
};

/** Counts all that it finds: it is told what that takes, and not asked to take no longer. */
const exactTotal = "first page of the growing account, exact total";

type Kind = keyof Awaited<ReturnType<typeof pathsOf>>;

interface SizedLedger {
  size: number;
  url: string;
  /** Of each kind of request a file of them. */
  kinds: Record<Kind, string>;
}

async function openSized(size: number, opened: AsyncDisposableStack, ledgers: Ledgers): Promise<SizedLedger> {
  const databaseUrl = await ledgers.open(size);
  await using database = await openDatabase(databaseUrl);
  const { url } = opened.use(await startLedger(databaseUrl));
  const paths = await pathsOf(
    url,
    await someTransactions(database, sampled),
    await someTransactions(database, sampled, "refunded"),
  );
  const files = Object.entries(paths).map(async ([kind, those]) => {
    const lines = those.map((path) => `GET ${path}`);
    return [kind, await requestsFile(opened, lines)];
  });
  return { size, url, kinds: Object.fromEntries(await Promise.all(files)) };
}

const pathsOf = async (url: string, all: SomeTransaction[], refunded: SomeTransaction[]) => ({
  lookup: all.map(lookupPath),
  "first page": [searchPath(accounts.steady)],
  "page 1000 by cursor": await pagesByCursor(url, searchPath(accounts.steady, 5)),
  events: refunded.map((payment) => familyPath(payment, "event")),
  children: refunded.map((payment) => familyPath(payment, "transaction")),
  [exactTotal]: [searchPath(accounts.growing)],
  "first page of the growing account, limited total": [
    `${searchPath(accounts.growing)}&limit_total=true&limit_total_size=20`,
  ],
});

const searchPath = (account: string, displaySize = 20) =>
  `/v1/transaction?account_id=${account}&display_size=${displaySize}`;

const familyPath = ({ external_id, gateway_account_id }: SomeTransaction, members: string) =>
  `/v1/transaction/${external_id}/${members}?gateway_account_id=${gateway_account_id}`;

const lastPage = 1000;

/** Goes from page to page; answers the paths of page 1000, or the last that there is, and of the ten before that. */
async function pagesByCursor(url: string, first: string): Promise<string[]> {
  const paths: string[] = [];
  let next: string | undefined = first;
  while (next !== undefined && paths.length < lastPage) {
    paths.push(next);
    const { body } = await request(url + next);
    const { _links: links } = (await body.json()) as { _links: { next_cursor?: { href: string } } };
    const link: string | undefined = links.next_cursor?.href;
    next = link?.slice(new URL(link).origin.length);
  }
  return paths.slice(-11);
}
