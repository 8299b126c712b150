import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { testWaitMaxMs } from "../../../../testing/test-wait-max.ts";
import type { Database } from "../../../database/database.ts";
import { ledgerDatabaseOfFile, openLedgerDatabase } from "../ledger-database.fixture.ts";
import type { Position } from "../page.ts";
import { placeOf } from "../reported-transaction.ts";
import { rowsReadDuring } from "../rows-read.fixture.ts";
import type { TransactionRow } from "../transaction.ts";
import { fillSkewed, skewedRows } from "./search.fixture.ts";
import { countTransactions, searchTransactions } from "./search.ts";
import type { TransactionFilter } from "./transaction-filter.ts";

type Row = TransactionRow & { paid_out_date: string | null; size: number };

const bytesMax = Number.MAX_SAFE_INTEGER;
const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

/** Longer than any statement takes on a busy machine. */
const limitMs = 5 * testWaitMaxMs;
const database = await ledgerDatabaseOfFile();
const searched = database.within(limitMs);
await fillSkewed(searched);
await searched.run("vacuum analyze");
/** All transactions, newest first. */
const rows = await searched.query<Row>(
  `select transaction.*, paid_out_date, coalesce(transaction.size, octet_length(transaction.details::text)) as size from transaction
   left join payout using (gateway_payout_id, gateway_account_id)
   order by created_date desc, external_id collate "C" desc`,
);

/** A reference implementation of the filter. */
function matchesOf(filter: TransactionFilter): Row[] {
  const { after, settled } = filter;
  const isOneOf = (given: string[] | undefined, value: string | null) =>
    !given || given.includes(value ?? "");
  const equals = (given: string | undefined, value: string | null) => given === undefined || given === value;
  const contains = (given: string | undefined, value: string | null) =>
    given === undefined || (value?.toLowerCase().includes(given.toLowerCase()) ?? false);
  return rows.filter(
    (row) =>
      isIn(filter.account_id)(row) &&
      equals(filter.transaction_type, row.transaction_type) &&
      isOneOf(filter.state, row.state) &&
      (!filter.states_by_type ||
        filter.states_by_type.some(
          ([type, states]) => type === row.transaction_type && states.includes(row.state),
        )) &&
      contains(filter.reference, row.reference) &&
      equals(filter.exact_reference?.toLowerCase(), row.reference?.toLowerCase() ?? null) &&
      contains(filter.email, row.email) &&
      contains(filter.cardholder_name, row.cardholder_name) &&
      equals(filter.first_digits_card_number, row.first_digits_card_number) &&
      equals(filter.last_digits_card_number, row.last_digits_card_number) &&
      isOneOf(filter.card_brands, row.card_brand) &&
      (!filter.from_date || row.created_date > filter.from_date) &&
      (!filter.to_date || row.created_date < filter.to_date) &&
      (!settled?.from || (row.paid_out_date !== null && row.paid_out_date.slice(0, 10) >= settled.from)) &&
      (!settled?.to || (row.paid_out_date !== null && row.paid_out_date.slice(0, 10) <= settled.to)) &&
      equals(filter.gateway_payout_id, row.gateway_payout_id) &&
      equals(filter.gateway_transaction_id, row.gateway_transaction_id) &&
      equals(filter.payment_provider?.toLowerCase(), "sandbox") &&
      equals(filter.agreement_id, row.agreement_id) &&
      (filter.live === undefined || filter.live === row.live) &&
      (filter.metadata_value === undefined ||
        (row.metadata_values?.includes(filter.metadata_value.toLowerCase()) ?? false)) &&
      (!after || isAfter(after)(row)),
  );
}

const isIn = (accounts: string[] | undefined) => (row: Row) =>
  !accounts || accounts.includes(row.gateway_account_id ?? "");
const isAfter = (after: Position) => (row: Row) =>
  row.first_event_id <= BigInt(after.arrived) &&
  (row.created_date < after.created_date ||
    (row.created_date === after.created_date && row.external_id < after.external_id));

const idsOf = (matches: Row[]) => matches.map(({ external_id }) => external_id);
const idsFound = (page: Awaited<ReturnType<typeof searchTransactions>>) =>
  page.rows.map((row) => placeOf(row).position.external_id);

/** Filters whose matches, in each account, are missing, rare, or common among the newest transactions. */
const easy: TransactionFilter[] = [
  {},
  { state: ["LOST", "WON"] },
  { state: ["CANCELLED"] },
  { state: ["SUCCESS", "SUBMITTED"] },
  { transaction_type: "DISPUTE" },
  { transaction_type: "PAYMENT" },
  { transaction_type: "REFUND", state: ["ERROR", "ERROR_GATEWAY"] },
  {
    states_by_type: [
      ["PAYMENT", ["ERROR", "FAILED_REJECTED"]],
      ["REFUND", ["SUCCESS"]],
    ],
  },
  { from_date: "2024-03-01T00:00:00.000000Z", to_date: "2024-03-02T00:00:00.000000Z" },
  { metadata_value: "nowhere" },
  { metadata_value: "Rare" },
  { metadata_value: "case77777" },
  { reference: "nowhere" },
  { reference: "c4ca42" },
  { reference: "-7777" },
  { reference: "lic" },
  { reference: "li" },
  { exact_reference: "lic-50001" },
  { email: "abc" },
  { email: "EXAMPLE" },
  { cardholder_name: "ZOË" },
  { card_brands: ["none"] },
  { card_brands: ["diners", "diners"] },
  { card_brands: ["visa", "diners"] },
  { first_digits_card_number: "410010" },
  { last_digits_card_number: "none" },
  { last_digits_card_number: "0012" },
  { last_digits_card_number: "4242" },
  { gateway_payout_id: "po500" },
  { gateway_transaction_id: "gtx5", payment_provider: "SANDBOX" },
  { gateway_transaction_id: "gtx5", payment_provider: "other" },
  { agreement_id: "agr5" },
  { settled: { from: "2030-01-01" } },
  { settled: { from: "2024-03-01", to: "2024-03-01" } },
  { settled: { from: "2024-02-01" } },
  { transaction_type: "PAYMENT", state: ["SUCCESS"], reference: "abc" },
  { live: true },
  { live: false },
  { live: true, state: ["SUCCESS"] },
  { live: false, transaction_type: "PAYMENT", from_date: "2024-01-02T00:00:00.000000Z" },
  { live: false, reference: "lic" },
  { live: false, state: ["LOST"] },
];
/** Filters with common matches that are not among the newest of some account, or without an index: short texts. */
const hard: TransactionFilter[] = [
  { metadata_value: "north" },
  { metadata_value: "old" },
  { reference: "%_" },
  { reference: "z", email: "zz", cardholder_name: "zq" },
  { cardholder_name: "ann", email: "a1", reference: "9" },
  { card_brands: ["maestro"] },
  { first_digits_card_number: "424242" },
  { settled: { to: "2024-03-01" } },
  { metadata_value: "north", card_brands: ["amex"], reference: "LIC" },
  { state: ["FAILED_REJECTED"], last_digits_card_number: "4242", settled: { from: "2024-02-01" } },
];
const filters = [...easy, ...hard];
const scopes: Record<string, string[] | undefined> = {
  all: undefined,
  small: ["s13"],
  half: ["1"],
  several: ["1", "s13", "2", "nobody", "1", "s27"],
  thousand: ["1", "2", ...Array.from({ length: 998 }, (_, n) => `s${n}`)],
};

/** The number of rows that a page of 500 transactions reads, without those of the total that is read with it. */
const rowsReadByPage = (of: Database, filter: TransactionFilter): Promise<number> =>
  of.transaction(
    async (sql) =>
      (await rowsReadDuring(sql, (measured) =>
        searchTransactions(measured, filter, { countMax: 500, bytesMax }),
      )) - (await rowsReadDuring(sql, (measured) => countTransactions(measured, filter))),
    { statementMs: limitMs, idleMs: limitMs },
  );

test.each([
  [{}, 12_000],
  [{ transaction_type: "PAYMENT" as const }, 40_000],
])("a page of many accounts reads few rows of each: %j", async (one, rowsMax) => {
  const account_id = [...new Set(rows.map((row) => row.gateway_account_id as string))];
  expect(account_id.length).toBeGreaterThan(80);
  expect(await rowsReadByPage(database, { ...one, account_id })).toBeLessThan(rowsMax);
});

test("a page of 1,000 accounts reads few rows of a small ledger that has no statistics yet", async () => {
  await using small = await openLedgerDatabase();
  await small.run(`
    insert into transaction (external_id, transaction_type, gateway_account_id, state, created_date, event_count,
      first_event_id, details)
    select 'p' || n, 'PAYMENT', 'a' || n, 'SUCCESS', timestamptz '2024-01-01Z' + n * interval '1 hour', 1, n, '{}'
    from generate_series(1, 12000) as n`);
  const account_id = Array.from({ length: 1000 }, (_, n) => `a${n + 1}`);
  const rowsRead = await rowsReadByPage(small, { account_id, transaction_type: "PAYMENT" });
  expect(rowsRead).toBeLessThan(5000);
});

test.each(filters)("a search finds, continues and counts the matches of %j", async (one) => {
  const ofAllAccounts = matchesOf(one);
  for (const account_id of Object.values(scopes)) {
    const filter = { ...one, account_id };
    const matches = ofAllAccounts.filter(isIn(account_id));
    const ids = idsOf(matches);
    const page = await searchTransactions(searched, filter, { countMax: 100, bytesMax });
    expect(idsFound(page)).toEqual(ids.slice(0, 100));
    expect(page.next === undefined).toBe(ids.length <= 100);
    expect(await countTransactions(searched, filter)).toBe(ids.length);
    expect(await countTransactions(searched, filter, 501)).toBe(Math.min(ids.length, 501));
    const row = matches[Math.floor(ids.length / 2)];
    const after = row && { ...row, arrived: String(row.first_event_id) };
    const rest = idsOf(after ? matches.filter(isAfter(after)) : matches);
    const next = await searchTransactions(searched, { ...filter, after }, { countMax: 100, bytesMax });
    expect(idsFound(next)).toEqual(rest.slice(0, 100));
  }
});

const anyFilter: fc.Arbitrary<TransactionFilter> = fc
  .tuple(
    fc.constantFrom(...Object.values(scopes), ["2"], ["nobody"], []),
    fc.array(fc.constantFrom(...filters), { maxLength: 3 }),
    fc.option(fc.nat(skewedRows - 1), { nil: undefined }),
  )
  .map(([account_id, given, position]) => {
    const row = position === undefined ? undefined : rows[position];
    return {
      ...Object.assign({}, ...given),
      account_id,
      after: row && { ...row, arrived: String(skewedRows / 2) },
    };
  });

test("any combination of filters finds the matches on any page of any size", async () => {
  await fc.assert(
    fc.asyncProperty(
      anyFilter,
      fc.constantFrom(0, 0, 1, 100, 5000),
      fc.constantFrom(1, 2, 20, 500),
      fc.constantFrom(1, 2000, bytesMax),
      async (filter, offset, countMax, bytesMax) => {
        const ids = idsOf(matchesOf(filter));
        const page = await searchTransactions(searched, filter, { offset, countMax, bytesMax });
        const sizes = matchesOf(filter)
          .slice(offset, offset + countMax)
          .map(({ size }) => size);
        const fitting = sizes.filter((_, index) => sum(sizes.slice(0, index)) < bytesMax).length;
        expect(idsFound(page)).toEqual(ids.slice(offset, offset + fitting));
        expect(page.next === undefined).toBe(offset + fitting >= ids.length);
        expect(await countTransactions(searched, filter, countMax)).toBe(Math.min(countMax, ids.length));
      },
    ),
    { numRuns: 30 },
  );
});

/** Outdated statistics: every transaction was a successful payment of one account. */
const outdatedStatistics = `
  create table once (like transaction including all);
  insert into once select (jsonb_populate_record(transaction, jsonb_build_object(
    'external_id', n, 'gateway_account_id', '7', 'transaction_type', 'PAYMENT', 'state', 'SUCCESS', 'card_brand', 'visa',
    'reference', 'none', 'metadata_values', array['nowhere']))).*
  from transaction, generate_series(1, 1000) as n where transaction.external_id = 'id1';
  create table once_outline (like transaction_outline including all);
  insert into once_outline select external_id, gateway_account_id, transaction_type, state, created_date, first_event_id from once;
  analyze once, once_outline;
  update pg_statistic set starelid = case starelid when 'once'::regclass then 'transaction' else 'transaction_outline' end::regclass
  where starelid in ('once'::regclass, 'once_outline'::regclass);
`;
const withoutStatistics = `
  delete from pg_statistic where starelid in ('transaction'::regclass, 'transaction_outline'::regclass, 'payout'::regclass)
    or starelid in (select indexrelid from pg_index where indrelid = 'transaction'::regclass);
`;

describe.each([
  ["that are correct", "", 10],
  ["that are missing", withoutStatistics, 10],
  ["that are outdated", withoutStatistics + outdatedStatistics, 1501 + 10],
])("with statistics %s", (_name, change, spareRows) => {
  test("a page and a limited total read no more rows than documented", async () => {
    const rollback = new Error("rolled back");
    const work = database.transaction(
      async (sql) => {
        await sql.run(change);
        for (const one of filters) {
          for (const account_id of Object.values(scopes)) {
            const filter = { ...one, account_id };
            let total: number | undefined;
            const ofPage = await rowsReadDuring(sql, async (measured) => {
              ({ total } = await searchTransactions(measured, filter, { countMax: 100, bytesMax }));
            });
            const ofTotal = hard.includes(one)
              ? 0
              : await rowsReadDuring(sql, (measured) => countTransactions(measured, filter, 501));
            const rowsMax = easy.includes(one) ? skewedRows / 6 : 3 * skewedRows;
            // A page of filters that the summaries have is read with its total.
            const ofBoth = total === undefined ? rowsMax : rowsMax + ofTotal;
            expect({ filter, ofPage, isInBounds: ofPage <= ofBoth }).toMatchObject({ isInBounds: true });
            // The row of the last merge is read, too. By outdated statistics, all is live: then a total of what is not live
            // reads all of that, of which there are 1,500, for the part of an hour at the ends of the interval.
            expect({ filter, ofTotal, isInBounds: ofTotal <= skewedRows + spareRows }).toMatchObject({
              isInBounds: true,
            });
          }
        }
        throw rollback;
      },
      { statementMs: limitMs, idleMs: limitMs },
    );
    await expect(work).rejects.toBe(rollback);
  });
});
