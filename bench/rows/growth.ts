import { request } from "undici";
import { openDatabase } from "../../src/database/databases.ts";
import { linkIn } from "../../testing/link-header.ts";
import type { SampledTransaction } from "../ledger-data.ts";
import { accounts, type Ledgers, lookupPath, sampleTransactions } from "../ledger-data.ts";
import type { Workload } from "../payments.ts";
import { type Program, startLedger, startProgram } from "../programs.ts";
import type { Comparison, Row } from "../row.ts";
import { requestsPerSecond, writeRequests } from "../wrk.ts";

const sampleSize = 10_000;

/** Compares the time of a request and of an event, and the disk space of an event, in larger ledgers with the smallest. */
export const growth: Row = {
  title: "growth with the size of the ledger",
  async open({ seconds, payments, ledgers: sizes }, opened, ledgers) {
    const running: RunningLedger[] = [];
    for (const size of sizes) running.push(await startLedgerOf(size, opened, ledgers));
    const [smallest, ...larger] = running as [RunningLedger, ...RunningLedger[]];
    const compareSizes = (
      work: string,
      unit: string,
      measure: (ledger: RunningLedger) => Promise<number>,
      members?: Partial<Comparison>,
    ) =>
      larger.map(
        (ledger): Comparison => ({
          name: `${work}, ${ledger.size} transactions`,
          unit,
          ours: () => measure(ledger),
          baseline: { name: `${smallest.size} transactions`, measure: () => measure(smallest) },
          target: { atMost: 1.5 },
          ...members,
        }),
      );
    const compareRequest = (kind: Kind) =>
      compareSizes(kind, "ms", async ({ url, kinds }) => {
        return 1000 / (await requestsPerSecond(url, { requests: kinds[kind], connections: 1, seconds }));
      });
    const workload: Workload = { payments, order: "interleaved" };
    return [
      ...(Object.keys(smallest.kinds) as Kind[]).flatMap(compareRequest),
      ...compareSizes("disk", "bytes/event", async ({ bytesPerEvent }) => bytesPerEvent, { rounds: 1 }),
      ...compareSizes("ingest, interleaved", "µs/event", async ({ receiver }) => {
        return 1_000_000 / (await receiver.call<number>(workload));
      }),
    ];
  },
};

type Kind = keyof Awaited<ReturnType<typeof pathsOf>>;

interface RunningLedger {
  size: number;
  url: string;
  /** Tables and indexes, before anything is ingested. */
  bytesPerEvent: number;
  /** `programs/ingest.ts` on the database of the ledger. */
  receiver: Program;
  /** The file with the requests of each kind. */
  kinds: Record<Kind, string>;
}

async function startLedgerOf(
  size: number,
  opened: AsyncDisposableStack,
  ledgers: Ledgers,
): Promise<RunningLedger> {
  const databaseUrl = await ledgers.open(size);
  await using database = await openDatabase(databaseUrl);
  const { url } = opened.use(await startLedger(databaseUrl));
  const refunded = await sampleTransactions(database, sampleSize, "refunded");
  const paths = await pathsOf(url, await sampleTransactions(database, sampleSize), refunded);
  const kinds = {} as Record<Kind, string>;
  for (const [kind, lines] of Object.entries(paths)) kinds[kind as Kind] = await writeRequests(opened, lines);
  const [disk] = await database.query<{ bytes: number }>(
    "select pg_database_size(current_database())::float / (select count(*) from event) as bytes",
  );
  const env = { DATABASE_URL: databaseUrl, QUEUE_URL: "memory:" };
  const receiver = opened.use(await startProgram("programs/ingest.ts", env));
  return { size, url, receiver, bytesPerEvent: disk?.bytes as number, kinds };
}

const pathsOf = async (url: string, all: SampledTransaction[], refunded: SampledTransaction[]) => ({
  lookup: all.map(lookupPath),
  "first page": [searchPath(accounts.steady)],
  "page 1000 by cursor": await pagesByCursor(url, searchPath(accounts.steady, 5)),
  events: refunded.map((payment) => relatedPath(payment, "event")),
  children: refunded.map((payment) => relatedPath(payment, "transaction")),
  "first page, growing account, exact total": [searchPath(accounts.growing)],
  "first page, growing account, limited total": [
    `${searchPath(accounts.growing)}&limit_total=true&limit_total_size=20`,
  ],
  "report by type and state, growing account": [
    `/v1/report/transactions?account_id=${accounts.growing}&group_by=type,state`,
  ],
  "transactions summary, all accounts": [
    "/v1/report/transactions-summary?override_account_id_restriction=true&from_date=2024-01-02T10:00:00Z",
  ],
});

const searchPath = (account: string, displaySize = 20) =>
  `/v1/transaction?account_id=${account}&display_size=${displaySize}`;

const relatedPath = ({ external_id, gateway_account_id }: SampledTransaction, collection: string) =>
  `/v1/transaction/${external_id}/${collection}?gateway_account_id=${gateway_account_id}`;

const lastPage = 1000;

/** Follows the cursors from the first page. Returns the paths of the last 11 pages, up to page 1000. */
async function pagesByCursor(url: string, first: string): Promise<string[]> {
  const paths: string[] = [];
  let next: string | undefined = first;
  while (next !== undefined && paths.length < lastPage) {
    paths.push(next);
    const { body, headers }: Awaited<ReturnType<typeof request>> = await request(url + next);
    await body.dump();
    const link: string | undefined = linkIn(headers);
    next = link?.slice(new URL(link).origin.length);
  }
  return paths.slice(-11);
}
