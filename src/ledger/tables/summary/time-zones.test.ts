import fc from "fast-check";
import { expect, test } from "vitest";
import { seeded } from "../../../../testing/random.ts";
import { testWaitMaxMs } from "../../../../testing/test-wait-max.ts";
import type { Sql } from "../../../database/database.ts";
import { namesOfTimeZone } from "../../../values/time-zone.ts";
import { ledgerDatabaseOfFile, openLedgerDatabase } from "../ledger-database.fixture.ts";
import { rowsReadDuring } from "../rows-read.fixture.ts";
import { mergeAll } from "./merge-all.fixture.ts";
import { always, type Interval } from "./periods.ts";
import type { GroupColumn } from "./rows.ts";
import { knownTimeZone, summarise, summariseByHour } from "./summary.ts";
import { mergeSummaryChanges, summaryDifferences } from "./upkeep.ts";

const limitMs = 5 * testWaitMaxMs;

/** Inserts payments of an account of 1 penny each, at the instants of a query with the columns `n` and `instant`. */
const insertPayments = (sql: Sql, account: string, instants: string) =>
  sql.run(`
    insert into transaction (external_id, transaction_type, gateway_account_id, live, state, created_date, event_count, first_event_id, details)
    select '${account}' || n, 'PAYMENT', '${account}', n % 3 > 0, (array['SUCCESS', 'ERROR', 'CREATED'])[1 + n % 3], instant, 1, 1,
      '{"amount": 1}'
    from (${instants}) as given`);

type Days = Record<string, number>;

const countsOf = (groups: { day?: string | null; count: bigint }[]): Days =>
  Object.fromEntries(groups.map(({ day, count }) => [day, Number(count)]));

const reportByDay = async (sql: Sql, timeZone: string, created = always) =>
  countsOf(
    await summarise(sql, { account_id: ["a"], created }, { groupBy: ["day"], sums: ["amount"], timeZone }),
  );

/** The payments of each day of a time zone, each read and counted by itself. */
const countByDay = async (sql: Sql, timeZone: string, { from, to } = always) =>
  countsOf(
    await sql.query(
      `select to_char((created_date at time zone $1)::date, 'YYYY-MM-DD') as day, count(*)
       from transaction where created_date >= $2 and created_date < $3 group by 1`,
      [timeZone, from, to],
    ),
  );

const days = 30;
/** The payments of each busy hour. There is one in each other hour. */
const paymentsOfHour = 240;
/** Hours (UTC) between two midnights. That of Kolkata is at 18:30. */
const busyHours = [2, 5, 11, 17, 18, 19, 23];

const summer = await ledgerDatabaseOfFile();
await insertPayments(
  summer.within(limitMs),
  "a",
  `select row_number() over () as n,
     timestamptz '2024-06-01Z' + day * interval '1 day' + hour * interval '1 hour' + part * interval '15 seconds' as instant
   from generate_series(0, ${days - 1}) as day, generate_series(0, 23) as hour,
     generate_series(1, case when hour in (${busyHours}) then ${paymentsOfHour} else 1 end) as part`,
);
await mergeAll(summer.within(limitMs));
await summer.within(limitMs).run("vacuum analyze");

/** The number of summaries of an hour, which has payments of three states, and of a day. */
const summariesOfDay = 25 * 3;
const rowsReadByReport = (timeZone: string, created?: Interval) =>
  summer.transaction((sql) => rowsReadDuring(sql, (measured) => reportByDay(measured, timeZone, created)), {
    statementMs: limitMs,
    idleMs: limitMs,
  });

test.each(["UTC", "Europe/London", "America/New_York", "Pacific/Kiritimati", "Pacific/Pago_Pago"])(
  "a report of days in %s reads no payment, however many there are between two midnights",
  async (timeZone) => {
    expect(await rowsReadByReport(timeZone)).toBeLessThan(days * summariesOfDay);
    expect(await reportByDay(summer, timeZone)).toEqual(await countByDay(summer, timeZone));
    // From one midnight of London to another one.
    const some = { from: "2024-06-05T23:00:00.000000Z", to: "2024-06-25T23:00:00.000000Z" };
    expect(await rowsReadByReport(timeZone, some)).toBeLessThan(20 * summariesOfDay);
    expect(await reportByDay(summer, timeZone, some)).toEqual(await countByDay(summer, timeZone, some));
  },
);

test("a report of days in Kolkata reads the payments of half an hour of each day", async () => {
  const read = await rowsReadByReport("Asia/Kolkata");
  const payments = (days * paymentsOfHour) / 2;
  expect(read).toBeGreaterThan(payments);
  expect(read).toBeLessThan(payments + days * summariesOfDay);
  expect(await reportByDay(summer, "Asia/Kolkata")).toEqual(await countByDay(summer, "Asia/Kolkata"));
});

/** Instants at or near which the clocks of a time zone change, most of them at a midnight or within an hour. */
const changes = {
  "Europe/London": ["2024-03-31T01:00:00Z", "1971-10-31T02:00:00Z"],
  "America/New_York": ["2024-11-03T06:00:00Z"],
  "America/Sao_Paulo": ["2018-11-04T03:00:00Z", "2018-02-18T02:00:00Z"],
  "Africa/Cairo": ["2023-04-27T22:00:00Z", "2023-10-26T21:00:00Z"],
  "Asia/Beirut": ["2024-03-30T22:00:00Z", "2024-10-26T21:00:00Z"],
  "America/Havana": ["2024-11-03T05:00:00Z"],
  "Australia/Lord_Howe": ["2024-04-06T15:00:00Z", "2024-10-05T15:30:00Z"],
  "Pacific/Chatham": ["2024-04-06T14:00:00Z"],
  "Asia/Kathmandu": ["1985-12-31T18:30:00Z", "2024-03-05T18:15:00Z"],
  "Asia/Kolkata": ["2024-03-05T18:30:00Z"],
  // A day is missing.
  "Pacific/Apia": ["2011-12-30T10:00:00Z"],
  "Pacific/Kiritimati": ["1994-12-31T10:00:00Z"],
  "Pacific/Pago_Pago": ["2024-03-05T11:00:00Z"],
  // At 00:01 the clock went back to the day before.
  "America/St_Johns": ["2006-10-29T02:31:00Z", "1988-10-30T01:31:00Z"],
  "America/Goose_Bay": ["2006-10-29T03:01:00Z"],
};

const database = await ledgerDatabaseOfFile();
const random = seeded(30);

/** Instants around the changes, as texts with microseconds. */
function instantAround(): string {
  const [date = "", fraction = ""] = random.pick(Object.values(changes).flat()).split("Z");
  const ms =
    Date.parse(`${date}${fraction}Z`) +
    random.integer(-30, 30) * 1_800_000 +
    random.pick([0, 0, -1, 60_000, 59_999]);
  const text = new Date(ms).toISOString();
  return `${text.slice(0, 23)}${text.endsWith("999Z") ? "999" : random.pick(["000", "000", "001"])}Z`;
}

for (let batch = 0; batch < 12; batch += 1) {
  const instants = Array.from(
    { length: 120 },
    (_, index) => `(${batch * 1000 + index}, timestamptz '${instantAround()}')`,
  );
  await insertPayments(
    database,
    random.pick(["a", "b"]),
    `select * from (values ${instants}) as one (n, instant)`,
  );
  // Some payments turn out to be older or newer, or of another state or account, and some are deleted.
  const some = `external_id in (select external_id from transaction order by md5(external_id || ${batch}) limit 40)`;
  await database.run(`
    update transaction set created_date = '${instantAround()}', state = 'SUCCESS' where ${some};
    update transaction set created_date = created_date + interval '${random.integer(-5, 5)} hours', gateway_account_id = 'b' where ${some};
    delete from transaction where ${some} and external_id like '%7'`);
  if (batch < 11) await mergeSummaryChanges(database, random.pick([1, 50, 500]));
}

test("summaries by hour do not differ from transactions that are moved, changed and deleted", async () => {
  expect(await summaryDifferences(database, 10)).toEqual([]);
});

test("a report moves the hours of a day whose summary is missing because a change is not merged", async () => {
  await using own = await openLedgerDatabase();
  await insertPayments(own, "a", "select 1 as n, timestamptz '2024-07-01T10:00Z' as instant");
  await own.run(`
    update transaction set created_date = '2024-07-01T23:00Z';
    delete from transaction_change where count > 0 and hour = '2024-07-01T10:00Z'`);
  await mergeAll(own);
  await own.run(`
    insert into transaction_change
    select merged_end, '2024-07-01T10:00Z', 1, true, false, '1', 'a', 'PAYMENT', 'ERROR', 1, 0, 0, 0, 0, 1
    from transaction_summary_merge order by merged_end desc limit 1`);
  expect(await summaryDifferences(own, 10)).toEqual([]);
  expect(await own.query("select from transaction_summary where grain = 'day'")).toEqual([]);
  const lastHours = { from: "2024-07-01T22:00:00.000000Z", to: "2024-07-02T00:00:00.000000Z" };
  expect(await reportByDay(own, "Europe/London", lastHours)).toEqual({ "2024-07-02": 1 });
  expect(await reportByDay(own, "Europe/London")).toEqual({ "2024-07-02": 1 });
});

test.each(Object.keys(changes))("the days of a report in %s are those of Intl", async (timeZone) => {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" });
  const rows = await database.query<{ created_date: string }>("select created_date from transaction");
  const byDay = Map.groupBy(rows, ({ created_date }) => format.format(new Date(created_date)));
  const groups = await summarise(database, {}, { groupBy: ["day"], timeZone });
  expect(countsOf(groups)).toEqual(Object.fromEntries([...byDay].map(([day, { length }]) => [day, length])));
});

test.each([
  ["UTC", "UTC"],
  ["Asia/Kolkata", "Asia/Kolkata"],
  ["europe/LONDON", "europe/LONDON"],
])("the database knows %s", async (name, known) => {
  expect(await knownTimeZone(database, namesOfTimeZone(name))).toBe(known);
});

test("the database gets the present name of a time zone if it does not know the older one", async () => {
  expect(namesOfTimeZone("asia/calcutta")).toEqual(["asia/calcutta", "Asia/Calcutta", "Asia/Kolkata"]);
  expect(namesOfTimeZone("US/Pacific")).toEqual(["US/Pacific", "America/Los_Angeles"]);
  expect(await knownTimeZone(database, ["Europe/Nowhere", "Asia/Kolkata"])).toBe("Asia/Kolkata");
  expect(await knownTimeZone(database, ["Europe/Nowhere"])).toBeUndefined();
});

const columns = {
  account: "coalesce(gateway_account_id, '')",
  state: "state",
  day: "to_char(local_day, 'YYYY-MM-DD')",
  week: "to_char(date_trunc('week', local_day), 'YYYY-MM-DD')",
  month: "to_char(date_trunc('month', local_day), 'YYYY-MM-DD')",
} satisfies Partial<Record<GroupColumn, string>>;
const names = Object.keys(columns) as (keyof typeof columns)[];
/** Without those that only a newer list of zones has. */
const zones = await database.query<{ name: string }>(
  "select name from pg_timezone_names where name = any($1::text[]) order by name",
  [Intl.supportedValuesOf("timeZone")],
);

test("a report in any time zone is that of its transactions, whatever its interval and its groups", async () => {
  const bounds = Array.from({ length: 200 }, instantAround);
  const cases = fc.record({
    timeZone: fc.constantFrom(...zones.map(({ name }) => name), ...Object.keys(changes)),
    interval: fc.option(fc.tuple(fc.constantFrom(...bounds), fc.constantFrom(...bounds))),
    groupBy: fc.shuffledSubarray(names, { minLength: 1 }),
    account_id: fc.constantFrom<(string[] | undefined)[]>(undefined, ["a"]),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ timeZone, interval, groupBy, account_id }) => {
      const [from, to] = interval?.toSorted() ?? [always.from, always.to];
      const groups = await summarise(
        database,
        { account_id, created: { from, to } as Interval },
        { groupBy, timeZone },
      );
      const expected = await database.query(
        `select ${groupBy.map((name) => `${columns[name]} as "${name}"`)}, count(*), count(*)::text as amount
         from (select *, (created_date at time zone $1)::date::timestamp as local_day from transaction) as one
         where created_date >= $2 and created_date < $3 and ($4::text[] is null or gateway_account_id = any($4))
         group by ${groupBy.map((_, index) => index + 1)} order by ${groupBy.map((_, index) => index + 1)}`,
        [timeZone, from, to, account_id ?? null],
      );
      const shown = groups.map((group) => [
        ...groupBy.map((name) => group[name]),
        group.count,
        String(group.amount),
      ]);
      expect(shown).toEqual(expected.map((row) => Object.values(row as object)));
    }),
    { numRuns: 150 },
  );
});

test("a report by hour is that of its transactions, whatever its interval", async () => {
  const bounds = Array.from({ length: 200 }, instantAround);
  const intervals = fc.tuple(
    fc.constantFrom(...bounds),
    fc.constantFrom(...bounds),
    fc.integer({ min: 1, max: 300 }),
  );
  await fc.assert(
    fc.asyncProperty(intervals, async ([one, other, max]) => {
      const [from = "", to = ""] = [one, other].toSorted();
      const expected = await database.query(
        `select date_trunc('hour', created_date, 'UTC') as hour, count(*), count(*) filter (where state = 'ERROR') as errored,
           count(*) filter (where state = 'SUCCESS') as completed
         from transaction where live and created_date >= $1 and created_date < $2 group by 1 order by 1 limit $3`,
        [from, to, max],
      );
      const sums = { total_amount: 0n, net_amount: 0n, fee: 0n };
      expect(await summariseByHour(database, { from, to }, max)).toEqual(
        expected.map((row) => ({ ...(row as object), amount: (row as { count: bigint }).count, ...sums })),
      );
    }),
    { numRuns: 50 },
  );
});
