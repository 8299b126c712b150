import { readdir, readFile } from "node:fs/promises";
import { request } from "undici";
import { openDatabase } from "../src/database/databases.ts";
import budgets from "./budget.json" with { type: "json" };
import { accounts, type Ledgers, lookupPath, sampleTransactions } from "./ledger-data.ts";
import { type Server, startBaseline, startLedger, startService } from "./programs.ts";
import type { Result } from "./rounds.ts";
import type { Comparison, Row } from "./row.ts";
import { type Load, requestsPerSecond, sendRequests, writeRequests } from "./wrk.ts";

/** How much more than its budget a kind of request may cost: about what a measurement of the same code varies. */
const tolerance = 1.15;
/** Requests after which the code of a kind is compiled. */
const warmUpRequests = 2000;
const connections = 16;

/** A kind of request, which cycles through paths. */
interface Kind {
  name: string;
  server: Server;
  paths: string[];
}

/**
 * The CPU time of a request of each kind, in units of a fixed piece of work that is measured in turn with it. Each may cost
 * what `budget.json` says, and a little more.
 */
export const budget: Row = {
  title: "CPU time per request, compared with a fixed piece of work",
  async open({ seconds, ledgers: sizes }, opened, ledgers) {
    const fixed = opened.use(await startBaseline("fixed-work.ts"));
    const fixedLoad = { requests: await writeRequests(opened, ["/"]), connections, seconds };
    await sendRequests(fixed.url, fixedLoad, warmUpRequests);
    const kinds = [
      ...(await featureKinds("memory:", opened)),
      ...(await featureKinds("lmdb:./features", opened)),
      ...(await ledgerKinds(sizes.at(-1) as number, opened, ledgers)),
    ];
    const comparisons: Comparison[] = [];
    for (const { name, server, paths } of kinds) {
      const load = { requests: await writeRequests(opened, paths), connections, seconds };
      await sendRequests(server.url, load, warmUpRequests);
      comparisons.push({
        name,
        unit: "µs of CPU time",
        ours: () => cpuTime(server, load),
        baseline: { name: "the fixed work", measure: () => cpuTime(fixed, fixedLoad) },
        target: { atMost: tolerance * ((budgets as Record<string, number>)[name] ?? 0) },
      });
    }
    return comparisons;
  },
};

/** The budgets that results would just keep. */
export const budgetsOf = (results: Result[]): Record<string, number> =>
  Object.fromEntries(results.map(({ name, ratio }) => [name, Number((ratio?.median ?? 0).toPrecision(3))]));

async function featureKinds(store: string, opened: AsyncDisposableStack): Promise<Kind[]> {
  const server = opened.use(await startService("features", { env: { FEATURES_STORE_URL: store } }));
  const list = "/features/customer/42";
  for (let index = 0; index < 20; index++) {
    const { body } = await request(`${server.url}${list}/feature-${index}`, { method: "POST" });
    await body.dump();
  }
  return [
    { name: `has-feature, ${store}`, server, paths: [`${list}/feature-1`] },
    { name: `list of 20 features, ${store}`, server, paths: [list] },
  ];
}

async function ledgerKinds(size: number, opened: AsyncDisposableStack, ledgers: Ledgers): Promise<Kind[]> {
  const databaseUrl = await ledgers.open(size);
  await using database = await openDatabase(databaseUrl);
  const server = opened.use(await startLedger(databaseUrl));
  const all = await sampleTransactions(database, 1000);
  const refunded = await sampleTransactions(database, 1000, "refunded");
  const related = (collection: string) =>
    refunded.map(
      (one) =>
        `/v1/transaction/${one.external_id}/${collection}?gateway_account_id=${one.gateway_account_id}`,
    );
  const page = (displaySize: number) => [
    `/v1/transaction?account_id=${accounts.growing}&display_size=${displaySize}`,
  ];
  return [
    { name: "transaction lookup", server, paths: all.map(lookupPath) },
    { name: "events of a transaction", server, paths: related("event") },
    { name: "children of a transaction", server, paths: related("transaction") },
    { name: "page of 20 transactions", server, paths: page(20) },
    { name: "page of 100 transactions", server, paths: page(100) },
  ];
}

/** The CPU time of a response under load, in microseconds. */
async function cpuTime({ pid, url }: Server, load: Load): Promise<number> {
  const before = await cpuTimeOf(pid);
  const responses = (await requestsPerSecond(url, load)) * load.seconds;
  return ((await cpuTimeOf(pid)) - before) / responses;
}

/** The CPU time of all threads of a process so far, in microseconds. */
async function cpuTimeOf(pid: number): Promise<number> {
  const tasks = await readdir(`/proc/${pid}/task`);
  const times = tasks.map(async (task) => {
    const [nanoseconds] = (await readFile(`/proc/${pid}/task/${task}/schedstat`, "utf8")).split(" ");
    return Number(nanoseconds) / 1000;
  });
  return (await Promise.all(times)).reduce((sum, time) => sum + time, 0);
}
