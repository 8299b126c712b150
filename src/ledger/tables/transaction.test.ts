import { expect, test } from "vitest";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import type { Sql } from "../../database/database.ts";
import { countAgreements, findAgreement, searchAgreements } from "./agreement.ts";
import {
  childIdsAsOf,
  eventIdsOf,
  eventsInPieces,
  findEvent,
  resourcesOf,
  transactionTypes,
} from "./event.ts";
import { haveEventsUntil, listEvents, listShortHistory } from "./event-list.ts";
import { ledgerDatabaseOfFile } from "./ledger-database.fixture.ts";
import { lockResources } from "./lock.ts";
import { metadataKeysOf } from "./metadata-key.ts";
import { instrumentIdsAsOf, withTooManyInstruments } from "./payment-instrument.ts";
import { findTransaction, listChildren } from "./reported-transaction.ts";
import { amountsOf, childrenOf, currentTransactions, familyOf, relationsOf } from "./transaction.ts";

const rows = 100_000;
/** Account 57 has a tenth of all transactions; the other accounts share the rest evenly. */
const fill = `
  insert into payout (gateway_payout_id, gateway_account_id, state, created_date, event_count, paid_out_date, details)
  select 'po' || n, n % 100, 'PAID_OUT', instant, 1, instant, '{}'
  from (select n, timestamptz '2024-01-01Z' + n * interval '3 hours' as instant from generate_series(1, ${rows / 50}) as n) as days;

  insert into metadata_key select n % 100, 'key' || n from generate_series(1, 20000) as n on conflict do nothing;

  insert into event (resource_type, resource_external_id, parent_resource_external_id, timestamp, event_type, event_details)
  select 'payment', 'id' || n, case when n % 10 = 0 then 'id' || n - 1 end,
         timestamptz '2024-01-01Z' + n * interval '4 minutes', 'PAYMENT_CREATED', '{"amount": 1}'
  from generate_series(1, ${rows}) as n;

  insert into event (resource_type, resource_external_id, timestamp, event_type, event_details)
  select 'payment_instrument', 'ins' || n, timestamptz '2024-01-01Z' + n * interval '4 minutes', 'CONFIRMED',
    jsonb_build_object('agreement_external_id', 'agr' || n / 2)
  from generate_series(1, ${rows / 5}) as n;

  insert into agreement (external_id, gateway_account_id, service_id, live, state, created_date, event_count,
    first_event_id, reference, details, size)
  select 'agr' || n, n % 100, 'svc' || n % 200, true, (array['CREATED', 'ACTIVE'])[1 + n % 2],
    timestamptz '2024-01-01Z' + n * interval '4 minutes', 1, n, left(md5(n::text), 8), '{}', 100
  from generate_series(1, ${rows / 10}) as n;

  insert into payment_instrument (external_id, agreement_external_id, created_date, event_count, details, size)
  select 'ins' || n, 'agr' || n / 2, timestamptz '2024-01-01Z' + n * interval '4 minutes', 1, '{}', 100
  from generate_series(1, ${rows / 5}) as n;

  insert into transaction (external_id, transaction_type, parent_external_id, gateway_account_id, state, created_date,
    event_count, first_event_id, reference, email, cardholder_name, card_brand, first_digits_card_number,
    last_digits_card_number, gateway_transaction_id, gateway_payout_id, agreement_id, metadata_values, details)
  select 'id' || n,
    case when n % 10 = 0 then 'REFUND' when n % 1000 = 1 then 'DISPUTE' else 'PAYMENT' end,
    case when n % 10 = 0 then 'id' || n - 1 end,
    case when n % 10 = 1 then '57' else (n % 100)::text end,
    (array['SUCCESS', 'SUCCESS', 'SUCCESS', 'SUBMITTED', 'FAILED_REJECTED', 'ERROR'])[1 + n % 6],
    timestamptz '2024-01-01Z' + n * interval '4 minutes', 1, n,
    left(md5(n::text), 8), left(md5('e' || n), 8) || '@example.org', 'A. ' || left(md5('c' || n), 8), (array['visa', 'amex'])[1 + n % 2],
    424200 + n % 100, n % 10000, 'gtx' || n, case when n % 2 = 0 then 'po' || n / 50 end, 'agr' || n / 100, array['value' || n],
    jsonb_build_object('amount', n, 'payment_provider', 'sandbox', 'description', repeat(md5(n::text), 20))
  from generate_series(1, ${rows}) as n;
`;

const database = await ledgerDatabaseOfFile();
const withoutLimit = database.within(5 * testWaitMaxMs);
await withoutLimit.run(fill);
await withoutLimit.run("vacuum analyze");

const position = {
  timestamp: "2024-01-01T00:36:00Z",
  event_type: "PAYMENT_CREATED",
  resource_type: "payment",
  resource_external_id: "id9",
} as const;

const others = { parent_resource_external_id: null, service_id: null, live: null, event_details: {} };
const agreementPosition = { created_date: "2024-01-02Z", external_id: "agr9", arrived: "9:100:" };
const page = { countMax: 20, bytesMax: 1e6 };

/** Returns the plans of all statements of the work. The work gets no rows. */
async function plansOf(work: (sql: Sql) => Promise<unknown>): Promise<string[]> {
  const plans: string[] = [];
  await work({
    async query(text, values) {
      const lines = await database.query<Record<string, string>>(`explain ${text}`, values);
      plans.push(lines.map((line) => line["QUERY PLAN"]).join("\n"));
      return [];
    },
    run: () => Promise.reject(new Error("scripts have no plan")),
  });
  return plans;
}

const works: Record<string, (sql: Sql) => Promise<unknown>> = {
  "find a transaction": (sql) => findTransaction(sql, { external_id: "id5", gateway_account_id: "5" }),
  "list a transaction and its children": (sql) => familyOf(sql, "id9", "9"),
  "find children": (sql) => childrenOf(sql, ["id9"]),
  "find children as of an instant": (sql) => childIdsAsOf(sql, "id9", "2024-03-01T00:00:00Z"),
  "read the relations of transactions": (sql) => relationsOf(sql, ["id8", "new"]),
  "read transactions and their parents": (sql) => currentTransactions(sql, ["id9", "id10"]),
  "lock transactions": (sql) => lockResources(sql, ["id9", "id10"]),
  "list children": (sql) => listChildren(sql, "id9", "9", page),
  "read amounts": (sql) => amountsOf(sql, ["id9", "id10"]),
  "read events in pieces": (sql) =>
    eventsInPieces(sql, transactionTypes, ["id9", "id10"], "2024-03-01T00:00:00Z").next(),
  "read a payout's events in pieces": (sql) => eventsInPieces(sql, ["payout"], ["po5"]).next(),
  "list events": (sql) =>
    listEvents(sql, resourcesOf(transactionTypes, ["id9", "id10"]), ["A"], { after: position, ...page }),
  "list events quickly": (sql) => listShortHistory(sql, "id9", "9"),
  "find earlier events": (sql) =>
    haveEventsUntil(sql, [{ ...position, event_types: ["A"] }], ["A"], position),
  "find an event": (sql) => findEvent(sql, 5n),
  "list metadata keys": (sql) => metadataKeysOf(sql, ["57"], 101),
  "find the numbers of events": (sql) => eventIdsOf(sql, [{ ...position, ...others }]),
  "find an agreement": (sql) =>
    findAgreement(sql, { external_id: "agr5", gateway_account_id: "5", service_id: undefined }),
  "find payment instruments as of an instant": (sql) => instrumentIdsAsOf(sql, "agr5", "infinity"),
  "count payment instruments": (sql) => withTooManyInstruments(sql, ["agr5", "agr6"]),
  "search all agreements": (sql) => searchAgreements(sql, {}, page),
  "search agreements of an account": (sql) => searchAgreements(sql, { account_ids: ["57"] }, page),
  "search agreements of services": (sql) => searchAgreements(sql, { service_ids: ["svc5", "svc6"] }, page),
  "search agreements by reference": (sql) => searchAgreements(sql, { reference: "abcdef" }, page),
  "search agreements after a position": (sql) =>
    searchAgreements(sql, { account_ids: ["57"], after: agreementPosition }, page),
  "count agreements of an account": (sql) => countAgreements(sql, { account_ids: ["57"], state: "ACTIVE" }),
};

test.each(Object.entries(works))(
  "no full table scan of 100,000 transactions and 10,000 agreements is needed to %s",
  async (_name, work) => {
    const [plan, ...others] = await plansOf(work);
    expect(others).toEqual([]);
    expect(plan).toMatch(/Index|Bitmap/);
    expect(plan).not.toContain("Seq Scan");
  },
);

test("a plan with a full table scan is recognised", async () => {
  const [plan] = await plansOf((sql) =>
    sql.query("select from transaction where details ->> 'language' = 'en'"),
  );
  expect(plan).toContain("Seq Scan");
});
