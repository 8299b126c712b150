import { describe, expect, test } from "vitest";
import { message } from "../../../testing/messages.ts";
import { mergeSummaryChanges } from "../tables/summary/upkeep.ts";
import { ledgerOfFile, payment, startLedger } from "./ledger.fixture.ts";

// The numbers of every report, of any events, are in `model.test.ts`.

const ledger = await ledgerOfFile();
/** A live payment of account 1. */
const livePayment = (id: string, timestamp: string, details: object = {}, gateway_account_id = "1") =>
  message({
    resource_external_id: id,
    timestamp,
    live: true,
    event_details: { gateway_account_id, ...details },
  });
await ledger.store([
  livePayment("p1", "2024-03-05T09:14:22.018Z", { amount: 1000, moto: false }),
  livePayment("p2", "2024-03-05T09:59:59.999999Z", { amount: 1900, fee: 60, net_amount: 1840, moto: true }),
  livePayment("p3", "2024-03-06T00:00:00Z", { amount: 5 }),
  livePayment("p4", "2024-03-06T23:59:59.999999Z", { amount: 7 }),
  livePayment("pA", "2024-07-01T00:00:00Z", { amount: Number.MAX_SAFE_INTEGER, total_amount: 3 }, "ten"),
  livePayment("pB", "2024-07-01T00:00:00Z", { amount: Number.MAX_SAFE_INTEGER }, "ten"),
  message({ resource_external_id: "p5", timestamp: "2024-06-30T23:30:00Z", live: false }),
]);
const { get } = ledger;
const all = "override_account_id_restriction=true";

describe("the transaction report", () => {
  test.each([
    ["from_date=2024-03-06T00:00:00Z&to_date=2024-03-06T23:59:59.999999Z", []],
    ["from_date=2024-03-05T23:59:59.9999999Z&to_date=2024-03-06T00:00:00.0000001Z", ["p3"]],
    ["from_date=2024-03-05T12:59:59.999998%2B03:00&to_date=2024-03-06T00:00:00Z", ["p2"]],
  ])("excludes its bounds, as a search does: %s", async (query, ids) => {
    const { results } = await get(`/v1/transaction?account_id=1&${query}`);
    expect(results.map((one: { transaction_id: string }) => one.transaction_id)).toEqual(ids);
    const { groups } = await get(`/v1/report/transactions?account_id=1&${query}`);
    expect(groups).toMatchObject([{ count: ids.length }]);
  });

  test("has pages for as many accounts as a request can name", async () => {
    const accounts = ["1", "57", "ten", ...Array.from({ length: 997 }, (_, n) => String(1_000_000 + n))];
    const path = `/v1/report/transactions?account_id=${accounts}&group_by=account,live&display_size=2`;
    const pages = await ledger.pages(path);
    expect(pages.map(({ groups }) => groups.map(({ account }: { account: string }) => account))).toEqual([
      ["1", "57"],
      ["ten"],
    ]);
  });

  test.each([
    ["utc", ["2024-03-05", "2024-03-06"]],
    ["Europe/London", ["2024-03-05", "2024-03-06"]],
    ["asia/kolkata", ["2024-03-05", "2024-03-06", "2024-03-07"]],
    ["Asia/Calcutta", ["2024-03-05", "2024-03-06", "2024-03-07"]],
    ["Pacific/Pago_Pago", ["2024-03-04", "2024-03-05", "2024-03-06"]],
    ["Etc/GMT%2B10", ["2024-03-04", "2024-03-05", "2024-03-06"]],
    ["America/Argentina/Buenos_Aires", ["2024-03-05", "2024-03-06"]],
  ])("has days in the time zone %s", async (timeZone, days) => {
    const { groups } = await get(`/v1/report/transactions?account_id=1&group_by=day&time_zone=${timeZone}`);
    expect(groups.map(({ day }: { day: string }) => day)).toEqual(days);
  });

  test("is CSV with every group", async () => {
    const path = `/v1/report/transactions?${all}&group_by=account,live&display_size=1`;
    const csv = await ledger.request(path, { headers: { accept: "text/csv" } });
    expect(csv.headers).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="transaction-report.csv"',
    });
    expect(csv.text).toBe(
      `${[
        "account,live,count,amount,total_amount,net_amount,fee,refunded_amount,gross_amount",
        "1,true,4,2912,0,1840,60,0,2912",
        "57,false,1,4250,0,0,0,0,4250",
        "ten,true,2,18014398509481982,3,0,0,0,9007199254740994",
      ].join("\n")}\n`,
    );
    expect((await ledger.request(`${path}&format=csv`)).text).toBe(csv.text);
    const other = await fetch(`${ledger.base}${path}&format=csv&separator=semicolon&byte_order_mark=true`);
    const bytes = Buffer.from(await other.arrayBuffer());
    expect(bytes.toString()).toBe(`\uFEFF${csv.text.replaceAll(",", ";")}`);
  });

  test.each([
    ["true", ["1", "ten"]],
    ["false", ["57"]],
    ["", ["1", "57", "ten"]],
  ])("adds up the transactions with live=%s", async (live, accounts) => {
    const path = `/v1/report/transactions?${all}&group_by=account&display_size=1&live=${live}`;
    const pages = await ledger.pages(path);
    expect(pages.map(({ groups }) => groups[0].account)).toEqual(accounts);
  });
});

const march = "from_date=2024-03-01T00:00:00Z&to_date=2024-04-01T00:00:00Z";
const summary = "transactions-summary?account_id=1";
const bothDates = "Both from_date and to_date must be provided";
const noAccount = "Field [account_id] cannot be empty";
const noFromDate = "Field [from_date] can not be null";
const foreignCursor = "cursor must be from a header Link";

test.each([
  ["transactions?account_id=1&group_by=email", "group_by"],
  ["transactions?account_id=1&group_by=card_brand,day", "group_by"],
  ["transactions?account_id=1&group_by=day,day", "group_by"],
  ["transactions?account_id=1&email=a", "email"],
  ["transactions?account_id=1&metadata_value=a", "metadata_value"],
  ["transactions?account_id=1&card_brands=visa", "card_brands"],
  ...[
    ...["Europe/Nowhere", "%2B05:30", "UTC%2B3", "EST5EDT4", "EST5EDT", "CET", "BST", "posix/Europe/London"],
    ...[
      "SystemV/EST5",
      "Europe",
      "Europe/",
      "Etc/Unknown",
      "../../etc/passwd",
      "%00",
      "Europe/London%00",
      "x/".repeat(3000),
    ],
  ].map((zone) => [`transactions?account_id=1&time_zone=${zone}`, "such as Europe/London"]),
  ["transactions?account_id=1&from_date=yesterday", "from_date"],
  ["transactions?account_id=1&state=failed", "state must be one of"],
  ["transactions?account_id=1&display_size=0", "display_size"],
  ["transactions?account_id=1&live=maybe", "live must be true or false"],
  ["transactions?account_id=1&separator=%3B", "separator must be one of comma, semicolon or tab"],
  ["transactions?account_id=1&group_by=day&cursor=W10", foreignCursor],
  ["transactions?account_id=1&group_by=day&cursor=WzFd", foreignCursor],
  ["transactions?account_id=1&cursor=W10", foreignCursor],
  ["transactions?group_by=day", noAccount],
  ["transactions-summary", noFromDate],
  [summary, noFromDate],
  [`transactions-summary?${march}`, noAccount],
  [`${summary}&from_date=2024-03-05`, "from_date"],
  ["payments_by_state", noAccount],
  ["transactions-by-hour?from_date=2024-07-02T00:00:00Z", "to_date"],
  [`transactions-by-hour?${march}&cursor=W10`, "cursor"],
  ["performance-report?from_date=2024-03-05", bothDates],
  ["performance-report?to_date=2024-03-05", bothDates],
  ["performance-report-legacy?from_date=2024-03-05T00:00:00Z", bothDates],
  ["performance-report-legacy?to_date=2024-03-05T00:00:00Z", bothDates],
  ["performance-report?state=success", "state"],
  ["performance-report?from_date=2024-02-30&to_date=2024-03-01", "from_date"],
  ["gateway-performance-report?from_date=2024-03-06&to_date=2024-03-05", "earlier or equal to to_date"],
  ["gateway-performance-report?from_date=2024-03-06", "to_date"],
])("the report %s is refused by name", async (path, expected) => {
  expect(await ledger.getError(`/v1/report/${path}`)).toEqual([400, expect.stringContaining(expected)]);
});

test("reports of hours and instants include their bounds", async () => {
  const bounds = "from_date=2024-03-05T09:14:22.018Z&to_date=2024-03-05T09:59:59.999999Z";
  expect(await get(`/v1/report/transactions-by-hour?${bounds}`)).toMatchObject([{ all_payments: 2 }]);
  expect(await get(`/v1/report/performance-report-legacy?${bounds}`)).toMatchObject({ total_volume: 2 });
});

test("the summary of a report counts moto payments if it is asked to", async () => {
  expect(await get(`/v1/report/${summary}&${march}`)).toMatchObject({ moto_payments: { count: 0 } });
});

type TickerEvents = { event_type: string; event_date: string }[];

describe("the ticker", () => {
  const path = "/v1/event/ticker";
  const day = "from_date=2024-03-05T09:14:22.018Z&to_date=2024-03-05T09:59:59.999999Z";

  test("has the events of live transactions between two instants, both included, newest first", async () => {
    expect(await get(`${path}?${day}`)).toEqual([
      expect.objectContaining({ resource_external_id: "p2", is_moto: true, amount: 1900 }),
      {
        event_type: "PAYMENT_CREATED",
        event_date: "2024-03-05T09:14:22.018000Z",
        resource_external_id: "p1",
        resource_type: "payment",
        transaction_type: "PAYMENT",
        card_brand: null,
        amount: 1000,
        gateway_account_id: "1",
        service_external_id: null,
        payment_provider: null,
        wallet_type: null,
        source: null,
        is_moto: false,
        is_recurring: false,
      },
    ]);
    const count = async (query: string) => (await get(`${path}?${query}`)).length;
    expect(await count(`${day}&event_types=PAYMENT_CREATED&event_types=REFUND_SUCCEEDED`)).toBe(2);
    expect(await count(`${day}&event_types=payment_created`)).toBe(0);
    expect(await count("from_date=2024-06-30T00:00:00Z&to_date=2024-06-30T23:59:59Z")).toBe(0);
  });

  test.each(["from_date=", "to_date=", `${day}&cursor=W10`])("refuses %s by name", async (query) => {
    const [, name = ""] = /(\w+)=\w*$/.exec(query) ?? [];
    expect(await ledger.getError(`${path}?${query}`)).toEqual([400, expect.stringContaining(name)]);
  });

  test("has 10,000 events in a response, and Link leads to the others with the other parameters", async () => {
    await using many = await startLedger();
    await many.store([livePayment("many", "2024-03-05T10:00:00Z")]);
    // Every seven events have the same timestamp.
    await many.database.query(
      `insert into event (resource_type, resource_external_id, timestamp, event_type, event_details)
       select 'payment', 'many', timestamptz '2024-03-05T10:00Z' + n / 7 * interval '1 second', 'A' || n, '{}'
       from generate_series(1, $1::int) as n`,
      [10_409],
    );
    const path = `/v1/event/ticker?from_date=2024-03-05T00:00:00Z&to_date=2024-03-06T00:00:00Z`;
    const [first, ...others] = (await many.pages(path)) as unknown as TickerEvents[];
    expect([first?.length, ...others.map(({ length }) => length)]).toEqual([10_000, 410]);
    const events = [...(first ?? []), ...others.flat()];
    expect(new Set(events.map(({ event_type }) => event_type)).size).toBe(10_410);
    const instants = events.map(({ event_date }) => event_date);
    expect(instants).toEqual(instants.toSorted().toReversed());
    const compressed = await fetch(many.base + path, { headers: { "accept-encoding": "gzip" } });
    expect(compressed.headers.get("content-encoding")).toBe("gzip");
    expect(await compressed.json()).toEqual(first);
    expect((await many.request(path, { method: "HEAD" })).text).toBe("");
    const types = Array.from({ length: 50 }, (_, n) => `&event_types=A${n + 100}`).join("");
    expect((await many.get(path + types)).length).toBe(50);
  });
});

test("reports are never behind, and merging changes nothing", async () => {
  await using own = await startLedger();
  const query = "/v1/report/transactions?account_id=57&group_by=state,day";
  for (const count of [1, 2]) {
    const [created, confirmed] = payment(`p${count}`, {}, ["11:00", "CAPTURE_CONFIRMED"]);
    await own.store([created as object]);
    await own.until(query, {
      groups: expect.arrayContaining([expect.objectContaining({ state: "created", count: 1 })]),
    });
    await own.send(confirmed as object);
    await own.until(query, { groups: [{ state: "success", day: "2024-03-05", count }] });
    const { position: _, ...before } = await own.get(query);
    await mergeSummaryChanges(own.database, 1000);
    expect(await own.get(query)).toEqual({ ...before, position: expect.any(String) });
  }
});
