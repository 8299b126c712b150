import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database, Sql } from "../database/database.ts";
import { openNewDatabase } from "../database/new-database.fixture.ts";
import { migrate } from "./migrate.ts";
import { fillSkewed, skewedRows } from "./search.fixture.ts";
import {
  countTransactions,
  type FoundTransaction,
  searchTransactions,
  type TransactionFilter,
} from "./search.ts";
import type { TransactionRow } from "./transaction.ts";

type Row = TransactionRow & { paid_out_date: string | null };

let database: Database;
/** All, newest first. */
let rows: Row[];
beforeAll(async () => {
  database = await openNewDatabase();
  await migrate(database);
  await fillSkewed(database);
  await database.run("vacuum analyze");
  rows = await database.query<Row>(
    `select transaction.*, paid_out_date from transaction
     left join payout using (gateway_payout_id, gateway_account_id)
     order by created_date desc, external_id collate "C" desc`,
  );
});
afterAll(() => database[Symbol.asyncDispose]());

/** What a search promises, as plainly as can be. */
function matchesOf(filter: TransactionFilter): Row[] {
  const { after, settled } = filter;
  const isOneOf = (given: string[] | undefined, value: string | null) =>
    !given || given.includes(value ?? "");
  const equals = (given: string | undefined, value: string | null) => given === undefined || given === value;
  const contains = (given: string | undefined, value: string | null) =>
    given === undefined || (value?.toLowerCase().includes(given.toLowerCase()) ?? false);
  return rows.filter(
    (row) =>
      equals(filter.gateway_account_id, row.gateway_account_id) &&
      isOneOf(filter.account_ids, row.gateway_account_id) &&
      equals(filter.transaction_type, row.transaction_type) &&
      isOneOf(filter.states, row.state) &&
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
      (!filter.created_after || row.created_date > filter.created_after) &&
      (!filter.created_before || row.created_date < filter.created_before) &&
      (!settled?.from || (row.paid_out_date !== null && row.paid_out_date.slice(0, 10) >= settled.from)) &&
      (!settled?.to || (row.paid_out_date !== null && row.paid_out_date.slice(0, 10) <= settled.to)) &&
      equals(filter.gateway_payout_id, row.gateway_payout_id) &&
      equals(filter.gateway_transaction_id, row.gateway_transaction_id) &&
      equals(filter.payment_provider?.toLowerCase(), "sandbox") &&
      equals(filter.agreement_id, row.agreement_id) &&
      (filter.metadata_value === undefined ||
        (row.metadata_values?.includes(filter.metadata_value.toLowerCase()) ?? false)) &&
      (!after ||
        (row.first_event_id <= after.newest_event_id &&
          (row.created_date < after.created_date ||
            (row.created_date === after.created_date && row.external_id < after.external_id)))),
  );
}

const idsOf = (found: { external_id: string }[]) => found.map(({ external_id }) => external_id);

/** Each with what it is in the skewed ledger; of texts some have no trigrams. */
const filters: TransactionFilter[] = [
  {},
  { states: ["LOST", "WON"] },
  { states: ["CANCELLED"] },
  { states: ["SUCCESS", "SUBMITTED"] },
  { transaction_type: "DISPUTE" },
  { transaction_type: "PAYMENT" },
  { transaction_type: "REFUND", states: ["ERROR", "ERROR_GATEWAY"] },
  {
    states_by_type: [
      ["PAYMENT", ["ERROR", "FAILED_REJECTED"]],
      ["REFUND", ["SUCCESS"]],
    ],
  },
  { created_after: "2024-03-01T00:00:00.000000Z", created_before: "2024-03-02T00:00:00.000000Z" },
  { metadata_value: "nowhere" },
  { metadata_value: "Rare" },
  { metadata_value: "case77777" },
  { metadata_value: "north" },
  { metadata_value: "old" },
  { reference: "nowhere" },
  { reference: "c4ca42" },
  { reference: "-7777" },
  { reference: "lic" },
  { reference: "%_" },
  { reference: "li" },
  { reference: "z", email: "zz", cardholder_name: "zq" },
  { exact_reference: "lic-50001" },
  { email: "abc" },
  { email: "EXAMPLE" },
  { cardholder_name: "ZOË" },
  { cardholder_name: "ann", email: "a1", reference: "9" },
  { card_brands: ["none"] },
  { card_brands: ["diners", "diners"] },
  { card_brands: ["visa", "diners"] },
  { card_brands: ["maestro"] },
  { first_digits_card_number: "410010" },
  { first_digits_card_number: "424242" },
  { last_digits_card_number: "none" },
  { last_digits_card_number: "0012" },
  { last_digits_card_number: "4242" },
  { gateway_payout_id: "po500" },
  { gateway_transaction_id: "gtx5", payment_provider: "SANDBOX" },
  { gateway_transaction_id: "gtx5", payment_provider: "other" },
  { agreement_id: "agr5" },
  { settled: { from: "2030-01-01" } },
  { settled: { from: "2024-03-01", to: "2024-03-01" } },
  { settled: { to: "2024-03-01" } },
  { settled: { from: "2024-02-01" } },
  { transaction_type: "PAYMENT", states: ["SUCCESS"], reference: "abc" },
  { metadata_value: "north", card_brands: ["amex"], reference: "LIC" },
  { states: ["FAILED_REJECTED"], last_digits_card_number: "4242", settled: { from: "2024-02-01" } },
];
const scopes: Record<string, string[] | undefined> = {
  all: undefined,
  small: ["s13"],
  half: ["1"],
  several: ["1", "s13", "2", "nobody", "1"],
};

describe.each(Object.keys(scopes))("in the accounts: %s", (scope) => {
  test.each(filters)("a search finds, goes on with, and counts what fits %j", async (one) => {
    const filter = { ...one, account_ids: scopes[scope] };
    const matches = matchesOf(filter);
    const ids = idsOf(matches);
    expect(idsOf(await searchTransactions(database, filter, { limit: 101 }))).toEqual(ids.slice(0, 101));
    expect(await countTransactions(database, filter)).toBe(ids.length);
    expect(await countTransactions(database, filter, 501)).toBe(Math.min(ids.length, 501));
    const last = matches[Math.floor(ids.length / 2)];
    const after = last && { ...last, newest_event_id: last.first_event_id };
    const others = idsOf(matchesOf({ ...filter, after }));
    expect(idsOf(await searchTransactions(database, { ...filter, after }, { limit: 101 }))).toEqual(
      others.slice(0, 101),
    );
  });
});

const anyFilter: fc.Arbitrary<TransactionFilter> = fc
  .tuple(
    fc.constantFrom(...Object.values(scopes), ["2"], ["nobody"], []),
    fc.array(fc.constantFrom(...filters), { maxLength: 3 }),
    fc.option(fc.nat(skewedRows - 1), { nil: undefined }),
  )
  .map(([account_ids, given, position]) => {
    const row = position === undefined ? undefined : rows[position];
    return {
      ...Object.assign({}, ...given),
      account_ids,
      after: row && { ...row, newest_event_id: BigInt(skewedRows / 2) },
    };
  });

test("any filters together, any page and any size find what fits", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constant(undefined).chain(() => anyFilter),
      fc.constantFrom(0, 0, 1, 100, 5000),
      fc.constantFrom(1, 2, 21, 501),
      async (filter, offset, limit) => {
        const ids = idsOf(matchesOf(filter));
        const found = await searchTransactions(database, filter, { offset, limit });
        expect(idsOf(found)).toEqual(ids.slice(offset, offset + limit));
        expect(await countTransactions(database, filter, limit)).toBe(Math.min(limit, ids.length));
      },
    ),
    { numRuns: 100 },
  );
});
