import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Random, seeded } from "../../../testing/random.ts";
import type { Database } from "../../database/database.ts";
import { ingest } from "../intake/ingest.ts";
import { booleanOf, penceOf } from "../projection/details.ts";
import type { Details, NewEvent } from "./event.ts";
import { openLedgerDatabase } from "./ledger-database.fixture.ts";
import { always, beginning, end, type Interval } from "./periods.ts";
import { countTransactions } from "./search.ts";
import { type Grouping, summarise } from "./summary.ts";
import type { GroupColumn, SummaryFilter } from "./summary-rows.ts";
import { mergeSummaryChanges, rebuildSummaries, summaryDifferences } from "./summary-upkeep.ts";
import type { TransactionRow, TransactionState } from "./transaction.ts";

/** Days around the changes of the clocks in London, the ends of weeks, months and years, and an ordinary one. */
const days = [
  "1970-06-30",
  "2023-12-31",
  "2024-01-01",
  "2024-02-29",
  "2024-03-05",
  "2024-03-30",
  "2024-03-31",
  "2024-04-01",
  "2024-06-30",
  "2024-07-01",
  "2024-10-26",
  "2024-10-27",
  "2024-10-28",
  "9999-12-31",
];
const times = [
  "00:00:00.000000",
  "00:59:59.999999",
  "09:14:22.018000",
  "22:59:59.999999",
  "23:00:00.000000",
  "23:59:59.999999",
];
const instantOf = (random: Random) => `${random.pick(days)}T${random.pick(times)}Z`;
const accounts = ["1", "2", "ten", "_%'\"", "long".repeat(50)];

/** Amounts in every form that a message allows, and some that are not pence. */
const amounts = [
  0,
  1,
  -250,
  4250,
  9_007_199_254_740_991,
  -9_007_199_254_740_991,
  "4250",
  "-0012",
  "00000000000000000000000000000000012",
  "9007199254740992",
  JSON.rawJSON("100.0"),
  JSON.rawJSON("9007199254740993"),
  12.5,
  "12.5",
  "",
  "twelve",
  true,
  {},
  [],
];

const eventTypes = [
  "PAYMENT_CREATED",
  "AUTHORISATION_REJECTED",
  "CAPTURE_CONFIRMED",
  "CAPTURE_ERRORED",
  "DISPUTE_LOST",
  "OTHER",
];

function eventOf(random: Random, id: number): NewEvent {
  const optional = <Value>(value: Value) => (random.chance(0.6) ? value : undefined);
  const resource_type = (["payment", "payment", "refund", "dispute"] as const)[id % 4] ?? "payment";
  const details = {
    gateway_account_id: optional(random.pick(accounts)),
    amount: optional(random.pick(amounts)),
    total_amount: optional(random.pick(amounts)),
    net_amount: optional(random.pick(amounts)),
    fee: optional(random.pick(amounts)),
    refund_amount_refunded: optional(random.pick(amounts)),
    moto: optional(random.pick([true, false, "true", "TRUE", 1])),
  };
  return {
    resource_type,
    resource_external_id: `${resource_type}${id}`,
    parent_resource_external_id: resource_type === "payment" ? null : `payment${id - (id % 4)}`,
    timestamp: instantOf(random),
    event_type: random.pick(eventTypes),
    service_id: null,
    live: random.pick([true, false, null]),
    event_details: Object.fromEntries(
      Object.entries(details).filter(([, value]) => value !== undefined),
    ) as Details,
  };
}

let database: Database;
let rows: TransactionRow[];
beforeAll(async () => {
  database = await openLedgerDatabase();
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
  rows = await database.query("select * from transaction");
});
afterAll(() => database[Symbol.asyncDispose]());

interface Model extends Omit<Grouping, "after" | "max"> {}

const londonDay = new Intl.DateTimeFormat("en-CA", { timeZone: "Europe/London", dateStyle: "short" });

/** The first day of the unit that contains a day. */
function periodOf(unit: "day" | "week" | "month", day: string): string {
  if (unit === "month") return `${day.slice(0, 7)}-01`;
  if (unit === "day") return day;
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return date.toISOString().slice(0, 10);
}

function groupValueOf(
  row: TransactionRow,
  column: GroupColumn,
  { timeZone, statuses }: Model,
): string | null {
  if (column === "account") return row.gateway_account_id;
  if (column === "type") return row.transaction_type;
  if (column === "state") return statuses?.get(row.state) ?? row.state;
  if (column === "live") return row.live === null ? null : String(row.live);
  if (column === "moto") return String(booleanOf(row.details, "moto") ?? false);
  const utc = row.created_date.slice(0, 10);
  const day = timeZone === "Europe/London" ? londonDay.format(new Date(row.created_date)) : utc;
  return periodOf(column, day);
}

const matches = (filter: SummaryFilter) => (row: TransactionRow) =>
  (filter.account_ids?.includes(row.gateway_account_id ?? "") ?? true) &&
  (filter.transaction_type ?? row.transaction_type) === row.transaction_type &&
  (filter.states?.includes(row.state) ?? true) &&
  (filter.states_by_type?.some(
    ([type, states]) => type === row.transaction_type && states.includes(row.state),
  ) ??
    true) &&
  (filter.live === undefined || filter.live === row.live) &&
  (filter.moto === undefined || filter.moto === (booleanOf(row.details, "moto") ?? false)) &&
  (filter.created ?? always).from <= row.created_date &&
  row.created_date < (filter.created ?? always).to;

/** What `summarise` must return: every row is added by itself. */
function expected(filter: SummaryFilter, model: Model) {
  const groups = Map.groupBy(rows.filter(matches(filter)), (row) =>
    JSON.stringify(model.groupBy.map((column) => groupValueOf(row, column, model))),
  );
  const compare = (a: string | null, b: string | null) =>
    Number(a === null) - Number(b === null) || Buffer.compare(Buffer.from(a ?? ""), Buffer.from(b ?? ""));
  return [...groups]
    .map(([key, members]) => ({ values: JSON.parse(key) as (string | null)[], members }))
    .sort(
      (a, b) => a.values.map((value, index) => compare(value, b.values[index] ?? null)).find(Boolean) ?? 0,
    )
    .map(({ values, members }) => {
      const sum = (read: (details: Details) => number | undefined) =>
        members.reduce((total, { details }) => total + BigInt(read(details) ?? 0), 0n);
      return {
        ...Object.fromEntries(model.groupBy.map((column, index) => [column, values[index]])),
        count: BigInt(members.length),
        amount: sum((details) => penceOf(details, "amount")),
        total_amount: sum((details) => penceOf(details, "total_amount")),
        net_amount: sum((details) => penceOf(details, "net_amount")),
        fee: sum((details) => penceOf(details, "fee")),
        refunded_amount: sum((details) => penceOf(details, "refund_amount_refunded")),
        gross_amount: sum((details) => penceOf(details, "total_amount") ?? penceOf(details, "amount")),
      };
    });
}

const groupColumns: GroupColumn[] = ["account", "type", "state", "day", "week", "month", "live", "moto"];
const states: TransactionState[] = [
  "CREATED",
  "SUCCESS",
  "FAILED_REJECTED",
  "ERROR_GATEWAY",
  "LOST",
  "UNDEFINED",
];
const statuses = new Map<TransactionState, string>(
  states.map((state) => [state, state === "LOST" ? "created" : state.toLowerCase()]),
);

function randomFilter(random: Random): SummaryFilter {
  const optional = <Value>(probability: number, value: Value) =>
    random.chance(probability) ? value : undefined;
  const bounds: [string, string] = [
    random.chance(0.2) ? beginning : instantOf(random),
    random.chance(0.2) ? end : instantOf(random),
  ];
  const [from, to] = random.chance(0.9) ? (bounds.toSorted() as [string, string]) : bounds;
  const created: Interval = { from, to };
  return {
    account_ids: optional(0.6, random.pick([["1"], ["1", "1", "2"], [...accounts, "none"], ["none"]])),
    transaction_type: optional(0.3, random.pick(["PAYMENT", "REFUND", "DISPUTE"] as const)),
    states: optional(0.3, random.sample(states, 0.4)),
    states_by_type: optional(0.2, [
      ["PAYMENT", random.sample(states, 0.5)],
      ["REFUND", random.sample(states, 0.5)],
    ]),
    live: optional(0.2, random.chance(0.5)),
    moto: optional(0.2, random.chance(0.5)),
    created: optional(0.7, created),
  };
}

describe("a report", () => {
  test("is what adding up each transaction gives, whatever is asked and however much is merged", async () => {
    const random = seeded(7);
    // The rows are as before; there are changes to merge in any order of the tests.
    await database.run(`
      create table kept as select external_id, state from transaction;
      update transaction set state = 'UNDEFINED';
      update transaction set state = kept.state from kept where kept.external_id = transaction.external_id;
      drop table kept`);
    for (const merged of [0, 30, 100_000]) {
      await mergeSummaryChanges(database, merged);
      for (let count = 0; count < 70; count += 1) {
        const filter = randomFilter(random);
        const model: Model = {
          groupBy: random.sample(groupColumns, 0.3),
          timeZone: random.pick(["UTC", "Europe/London"]),
          statuses: random.chance(0.5) ? statuses : undefined,
        };
        const reported = await summarise(database, filter, model);
        expect({ filter, model, reported }).toEqual({ filter, model, reported: expected(filter, model) });
      }
    }
    expect(rows.length).toBeGreaterThan(200);
  });

  test("has the same groups in pages of any size", async () => {
    const random = seeded(8);
    for (const timeZone of ["UTC", "Europe/London"]) {
      const grouping = { groupBy: ["account", "week", "live", "state"] as const, timeZone };
      const whole = await summarise(database, {}, grouping);
      const paged: typeof whole = [];
      for (;;) {
        const max = random.integer(1, 40);
        const page = await summarise(database, {}, { ...grouping, after: paged.at(-1), max });
        paged.push(...page);
        if (page.length < max) break;
      }
      expect(paged).toEqual(whole);
      expect(whole.length).toBeGreaterThan(100);
    }
  });

  test("counts what a search matches", async () => {
    const random = seeded(9);
    for (let count = 0; count < 50; count += 1) {
      const { live: _live, moto: _moto, created, ...filter } = randomFilter(random);
      const dates = { created_after: created?.from, created_before: created?.to };
      const given = Object.fromEntries(
        Object.entries(dates).filter(([, date]) => !date?.includes("infinity")),
      );
      const matching = rows.filter(
        (row) =>
          matches(filter)(row) &&
          (given.created_after === undefined || given.created_after < row.created_date) &&
          (given.created_before === undefined || row.created_date < given.created_before),
      );
      const max = random.pick([Number.POSITIVE_INFINITY, 3]);
      expect(await countTransactions(database, { ...filter, ...given }, max)).toBe(
        Math.min(max, matching.length),
      );
    }
  });
});

describe("the summaries", () => {
  const number = async (table: string) =>
    Number((await database.query<{ count: bigint }>(`select count(*) from ${table}`))[0]?.count);

  test("do not differ from the transactions, and only changes that add to something are kept", async () => {
    expect(await summaryDifferences(database, 10)).toEqual([]);
    const waiting = await number("transaction_summary_change");
    expect(await mergeSummaryChanges(database, 100_000)).toBe(waiting);
    expect(await summaryDifferences(database, 10)).toEqual([]);
    expect(await number("transaction_summary_change")).toBe(0);
    expect(await number("transaction_summary where count = 0")).toBe(0);
  });

  test("change by nothing if a row is written without a change", async () => {
    await mergeSummaryChanges(database, 100_000);
    await database.run("update transaction set email = 'payer@example.org', event_count = event_count + 1");
    expect(await number("transaction_summary_change")).toBe(0);
  });

  test("that are wrong are found and rebuilt, while some changes are not merged", async () => {
    const before = await summarise(database, {}, { groupBy: ["account", "day"] });
    const [event] = [eventOf(seeded(1), 999)];
    await ingest(database, { events: [event as NewEvent], rebuilds: [], deadLetters: [] });
    await database.run(`
      delete from transaction_summary where grain = 'month';
      update transaction_summary set fee = fee + 1 where grain = 'ever' and all_accounts`);
    expect(await summaryDifferences(database, 10)).toHaveLength(10);
    await rebuildSummaries(database);
    expect(await summaryDifferences(database, 10)).toEqual([]);
    await database.run(`delete from transaction where external_id = '${event?.resource_external_id}'`);
    expect(await summaryDifferences(database, 10)).toEqual([]);
    expect(await summarise(database, {}, { groupBy: ["account", "day"] })).toEqual(before);
  });

  test("are merged by one session at a time; another one does not wait", async () => {
    await ingest(database, { events: [eventOf(seeded(2), 500)], rebuilds: [], deadLetters: [] });
    const merged = await Promise.all(Array.from({ length: 5 }, () => mergeSummaryChanges(database, 1000)));
    expect(merged.reduce((total, count) => total + count, 0)).toBeGreaterThan(0);
    await database.run("delete from transaction where external_id like '%500'");
    expect(await summaryDifferences(database, 10)).toEqual([]);
  });

  test("hold sums of more than 64 bits", async () => {
    await database.run(`
      insert into transaction (external_id, transaction_type, gateway_account_id, state, created_date, event_count, first_event_id, details)
      select 'big' || n, 'PAYMENT', 'big', 'SUCCESS', '2024-01-01Z', 1, 1, '{"amount": 9007199254740991}' from generate_series(1, 3000) as n`);
    await mergeSummaryChanges(database, 100_000);
    const [report] = await summarise(database, { account_ids: ["big"] }, { groupBy: [] });
    expect(report).toMatchObject({ count: 3000n, amount: 3000n * 9_007_199_254_740_991n });
    await database.run("delete from transaction where gateway_account_id = 'big'");
    expect(await summaryDifferences(database, 10)).toEqual([]);
  });
});
