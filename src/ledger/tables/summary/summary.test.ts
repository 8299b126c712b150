import { expect, test } from "vitest";
import { eventually } from "../../../../testing/eventually.ts";
import { type Random, seeded } from "../../../../testing/random.ts";
import { ingest } from "../../intake/ingest.ts";
import { booleanOf, penceOf } from "../../projection/details.ts";
import type { Details, NewEvent } from "../event.ts";
import { event } from "../feed/feed.fixture.ts";
import { ledgerDatabaseOfFile } from "../ledger-database.fixture.ts";
import type { TransactionRow } from "../transaction.ts";
import { mergeAll } from "./merge-all.fixture.ts";
import { summarise } from "./summary.ts";
import { countSummaryChanges, mergeSummaryChanges, rebuildSummaries, summaryDifferences } from "./upkeep.ts";

// That each report adds up its transactions, whatever is asked, is in `../../tests/model.test.ts`.

/** Amounts in every form that a message allows, and some that are not pence. */
const amounts: unknown[] = [
  ...[0, 1, -250, 4250, 9_007_199_254_740_991, -9_007_199_254_740_991, 12.5, true, {}, []],
  ...["4250", "-0012", "00000000000000000000000000000000012", "9007199254740992", "12.5", "", "twelve"],
  ...[JSON.rawJSON("100.0"), JSON.rawJSON("9007199254740993")],
];

const timestamps = ["1970-06-30T23:30:00", "2024-03-05T09:14:22", "9999-12-31T23:59:59"].map(
  (second) => `${second}.999999Z`,
);

function eventOf(random: Random, id: number): NewEvent {
  const resource_type = (["payment", "payment", "refund", "dispute"] as const)[id % 4] ?? "payment";
  const names = ["amount", "total_amount", "net_amount", "fee", "refund_amount_refunded"];
  const details = {
    ...Object.fromEntries(random.sample(names, 0.6).map((name) => [name, random.pick(amounts)])),
    ...(random.chance(0.6) && { gateway_account_id: random.pick(["1", "2", "_%'\""]) }),
    ...(random.chance(0.6) && { moto: random.pick([true, false, "true", "TRUE", 1]) }),
  };
  return event(`${resource_type}${id}`, 0, {
    resource_type,
    parent_resource_external_id: resource_type === "payment" ? null : `payment${id - (id % 4)}`,
    timestamp: random.pick(timestamps),
    event_type: random.pick(["PAYMENT_CREATED", "AUTHORISATION_REJECTED", "CAPTURE_ERRORED", "OTHER"]),
    live: random.pick([true, false, null]),
    event_details: details as Details,
  });
}

const database = await ledgerDatabaseOfFile();
const random = seeded(24);
for (let batch = 0; batch < 40; batch += 1) {
  const size = random.pick([1, 3, 50]);
  const events = Array.from({ length: size }, () => eventOf(random, random.integer(0, 300)));
  const rebuilds = random.chance(0.2) ? [`payment${random.integer(0, 300)}`] : [];
  await ingest(database, { events, rebuilds, deadLetters: [] });
  // Some changes are merged and some are not; the last ones are not.
  if (batch < 38 && random.chance(0.3)) await mergeSummaryChanges(database, random.pick([1, 20, 1000]));
}
await database.run("delete from transaction where external_id in ('payment1', 'refund2')");
const rows = await database.query<TransactionRow>("select * from transaction");

const number = async (table: string) =>
  Number((await database.query<{ count: bigint }>(`select count(*) from ${table}`))[0]?.count);

test("a report adds up amounts in every form, and those that are no pence count as 0", async () => {
  const sum = (read: (details: Details) => number | undefined) =>
    rows.reduce((total, { details }) => total + BigInt(read(details) ?? 0), 0n);
  expect(await summarise(database, {}, { groupBy: [] })).toEqual([
    {
      count: BigInt(rows.length),
      amount: sum((details) => penceOf(details, "amount")),
      total_amount: sum((details) => penceOf(details, "total_amount")),
      net_amount: sum((details) => penceOf(details, "net_amount")),
      fee: sum((details) => penceOf(details, "fee")),
      refunded_amount: sum((details) => penceOf(details, "refund_amount_refunded")),
      gross_amount: sum((details) => penceOf(details, "total_amount") ?? penceOf(details, "amount")),
    },
  ]);
  const moto = rows.filter(({ details }) => booleanOf(details, "moto"));
  expect(await summarise(database, { moto: true }, { groupBy: [] })).toMatchObject([
    { count: BigInt(moto.length) },
  ]);
  expect(rows.length).toBeGreaterThan(200);
});

test("the summaries and their versions do not differ from the transactions and their changes", async () => {
  expect(await summaryDifferences(database, 10)).toEqual([]);
  const waiting = await countSummaryChanges(database, 100_000);
  expect(await mergeAll(database)).toBe(waiting);
  expect(await summaryDifferences(database, 10)).toEqual([]);
  expect(await number("transaction_summary_version")).toBeGreaterThan(1000);
});

test("the summaries change by nothing if a row is written without a change", async () => {
  await mergeAll(database);
  const before = await summarise(database, {}, { groupBy: ["account", "type", "state", "day"] });
  await database.run("update transaction set email = 'payer@example.org', event_count = event_count + 1");
  expect(await mergeAll(database)).toBe(await number("transaction"));
  expect(await summarise(database, {}, { groupBy: ["account", "type", "state", "day"] })).toEqual(before);
  const merged = "merged_end = (select max(merged_end) from transaction_summary_merge)";
  expect(await number(`transaction_summary where ${merged}`)).toBe(0);
  expect(await number(`transaction_hour_summary where ${merged} and all_accounts`)).toBe(0);
});

test("summaries that are wrong are found and rebuilt, while some changes are not merged", async () => {
  const before = await summarise(database, {}, { groupBy: ["account", "day"] });
  const wrong = eventOf(seeded(1), 999);
  await ingest(database, { events: [wrong], rebuilds: [], deadLetters: [] });
  await database.run(`
    delete from transaction_summary where grain = 'month';
    update transaction_summary set fee = fee + 1 where grain = 'ever' and all_accounts`);
  expect(await summaryDifferences(database, 10)).toHaveLength(10);
  await rebuildSummaries(database);
  expect(await summaryDifferences(database, 10)).toEqual([]);
  await database.run(
    "update transaction_hour_summary set fee = fee + 1, count = count - 1 where all_accounts",
  );
  expect(await summaryDifferences(database, 1)).toMatchObject([
    {
      key: { all_accounts: true, grain: "hour", period: expect.stringMatching(/T\d\d:00:00/) },
      columns: ["count", "fee"],
    },
  ]);
  await rebuildSummaries(database);
  expect(await summaryDifferences(database, 10)).toEqual([]);
  await database.run(`delete from transaction where external_id = '${wrong.resource_external_id}'`);
  expect(await summaryDifferences(database, 10)).toEqual([]);
  expect(await summarise(database, {}, { groupBy: ["account", "day"] })).toEqual(before);
});

test("summaries are merged by one session at a time; another one does not wait", async () => {
  await ingest(database, { events: [eventOf(seeded(2), 500)], rebuilds: [], deadLetters: [] });
  // SQL transactions of other tests on the server can hold back a merge.
  await eventually(async () => {
    const merged = await Promise.all(Array.from({ length: 5 }, () => mergeSummaryChanges(database, 1000)));
    expect(Math.max(...merged)).toBeGreaterThan(0);
  });
  await database.run("delete from transaction where external_id like '%500'");
  expect(await summaryDifferences(database, 10)).toEqual([]);
});

test("summaries hold sums of more than 64 bits", async () => {
  await database.run(`
    insert into transaction (external_id, transaction_type, gateway_account_id, state, created_date, event_count, first_event_id, details)
    select 'big' || n, 'PAYMENT', 'big', 'SUCCESS', '2024-01-01Z', 1, 1, '{"amount": 9007199254740991}' from generate_series(1, 3000) as n`);
  await mergeAll(database);
  const [report] = await summarise(database, { account_id: ["big"] }, { groupBy: [] });
  expect(report).toMatchObject({ count: 3000n, amount: 3000n * 9_007_199_254_740_991n });
  await database.run("delete from transaction where gateway_account_id = 'big'");
  expect(await summaryDifferences(database, 10)).toEqual([]);
});
