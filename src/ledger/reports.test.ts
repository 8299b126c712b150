import { describe, expect, test } from "vitest";
import { message } from "../../testing/messages.ts";
import { ledgerOfFile, startLedger } from "./ledger.fixture.ts";
import { mergeSummaryChanges } from "./tables/summary-upkeep.ts";

interface Story {
  state?: string;
  type?: "payment" | "refund" | "dispute";
  account?: string | null;
  live?: boolean | null;
}

const firstEvents = {
  payment: "PAYMENT_CREATED",
  refund: "REFUND_CREATED_BY_USER",
  dispute: "DISPUTE_CREATED",
};

/** A transaction that was created at an instant and reached a state by one more event. */
function story(id: string, created: string, details: object, given: Story = {}) {
  const { state, type = "payment", account = "1", live = true } = given;
  const about = {
    resource_type: type,
    resource_external_id: id,
    ...(type !== "payment" && { parent_resource_external_id: "parent" }),
    ...(live !== null && { live }),
  };
  const event_details = { ...(account !== null && { gateway_account_id: account }), ...details };
  const later = { event_type: state, timestamp: "2024-12-31T12:00:00Z", event_details: {} };
  return [
    message({ ...about, event_type: firstEvents[type], timestamp: created, event_details }),
    ...(state ? [message({ ...about, ...later })] : []),
  ];
}

const captured = { state: "CAPTURE_CONFIRMED" };
const largest = { amount: Number.MAX_SAFE_INTEGER };
const stories = [
  story("p1", "2024-03-05T09:14:22.018Z", { amount: 1000, moto: false }, captured),
  story(
    "p2",
    "2024-03-05T09:59:59.999999Z",
    { amount: 1900, total_amount: 2000, fee: 60, net_amount: 1940, moto: true },
    captured,
  ),
  story("p3", "2024-03-06T00:00:00Z", { amount: 5 }, { state: "CANCELLED_BY_USER" }),
  story("p4", "2024-03-06T23:59:59.999999Z", { amount: 7 }, { state: "CANCELLED_BY_EXTERNAL_SERVICE" }),
  story("p5", "2024-04-01T00:30:00Z", { amount: 11 }, { state: "CAPTURE_ERRORED" }),
  story(
    "p6",
    "2024-04-01T00:30:00Z",
    { amount: "13" },
    { state: "PAYMENT_STATUS_CORRECTED_TO_ERROR_BY_ADMIN" },
  ),
  story("p7", "2024-06-30T23:30:00Z", { amount: 17 }, { live: false }),
  story(
    "p8",
    "2024-06-30T22:59:59Z",
    { amount: 19, refund_amount_refunded: 4 },
    { live: null, account: "2" },
  ),
  story("p9", "2024-07-01T00:00:00Z", { amount: 23 }, { account: null, ...captured }),
  story("pA", "2024-07-01T00:00:00Z", largest, { account: "ten", ...captured }),
  story("pB", "2024-07-01T00:00:00Z", largest, { account: "ten", ...captured }),
  story("r1", "2024-03-07T10:00:00Z", { amount: 300 }, { type: "refund", state: "REFUND_SUCCEEDED" }),
  story("r2", "2024-03-07T11:00:00Z", { amount: 400 }, { type: "refund" }),
  story(
    "d1",
    "2024-03-08T11:00:00Z",
    { amount: 1000, net_amount: -2500, fee: 1500 },
    { type: "dispute", state: "DISPUTE_LOST" },
  ),
];

const ledger = await ledgerOfFile();
await ledger.store(...stories);
const { get } = ledger;
async function refused(path: string) {
  const [status, text] = await ledger.getError(path);
  expect(status).toBe(400);
  return text;
}

const all = "override_account_id_restriction=true";
const report = (query: string) => get(`/v1/report/transactions?${query}`);
const sums = ["amount", "total_amount", "net_amount", "fee", "refunded_amount", "gross_amount"];
/** The groups without their sums, each as a text: its values and its count. */
const counts = async (query: string) =>
  (await report(query)).groups.map((group: object) =>
    Object.entries(group)
      .flatMap(([name, value]) => (sums.includes(name) ? [] : [value]))
      .join(" "),
  );

describe("the transaction report", () => {
  test("without columns is one group of everything that matches", async () => {
    expect(await report("account_id=1")).toEqual({
      groups: [
        {
          count: 10,
          amount: 4653,
          total_amount: 2000,
          net_amount: -560,
          fee: 1560,
          refunded_amount: 0,
          gross_amount: 4753,
        },
      ],
    });
    expect((await report("account_id=1,2")).groups[0]).toMatchObject({ count: 11, refunded_amount: 4 });
    expect((await report("account_id=none")).groups).toEqual([
      { count: 0, amount: 0, total_amount: 0, net_amount: 0, fee: 0, refunded_amount: 0, gross_amount: 0 },
    ]);
  });

  test("has sums that are exact beyond 53 bits", async () => {
    const { text } = await ledger.request("/v1/report/transactions?account_id=ten");
    expect(text).toContain('"amount":18014398509481982,');
  });

  // The model in summary.test.ts has every combination of columns and filters. These show how a request states them.
  test.each<[query: string, groups: string[]]>([
    [`${all}&group_by=account`, ["1 10", "2 1", "ten 2", " 1"]],
    ["account_id=1&group_by=moto", ["false 9", "true 1"]],
    [`${all}&group_by=live`, ["false 1", "true 12", " 1"]],
    [
      "account_id=1&group_by=state&transaction_type=payment",
      ["cancelled 2", "created 1", "error 2", "success 2"],
    ],
    [
      "account_id=1&group_by=state&transaction_type=PAYMENT&status_version=1",
      ["cancelled 1", "created 1", "error 2", "failed 1", "success 2"],
    ],
    ["account_id=1&group_by=month", ["2024-03-01 7", "2024-04-01 2", "2024-06-01 1"]],
    ["account_id=1&group_by=week&to_date=2024-03-11T00:00:00Z", ["2024-03-04 7"]],
    [
      "account_id=1&group_by=day,type&from_date=2024-03-06T23:59:59.999998Z&to_date=2024-04-01T00:00:00Z",
      ["2024-03-06 PAYMENT 1", "2024-03-07 REFUND 2", "2024-03-08 DISPUTE 1"],
    ],
    // The bounds are exclusive, as those of a search.
    ["account_id=1&group_by=day&from_date=2024-03-06T00:00:00Z&to_date=2024-03-06T23:59:59.999999Z", []],
    [
      "account_id=1&group_by=day&from_date=2024-03-05T23:59:59.9999999Z&to_date=2024-03-06T00:00:00.0000001Z",
      ["2024-03-06 1"],
    ],
    [
      "account_id=1&group_by=type&payment_states=success,error&refund_states=submitted",
      ["PAYMENT 4", "REFUND 1"],
    ],
    [
      "account_id=1&group_by=type&state=success&from_date=2024-03-05T12:00:00%2B03:00",
      ["PAYMENT 2", "REFUND 1"],
    ],
    // In summer London is an hour ahead of UTC.
    [`${all}&group_by=day&from_date=2024-06-01T00:00:00Z`, ["2024-06-30 2", "2024-07-01 3"]],
    [
      `${all}&group_by=day&from_date=2024-06-01T00:00:00Z&time_zone=Europe/London`,
      ["2024-06-30 1", "2024-07-01 4"],
    ],
  ])("%s", async (query, expected) => {
    expect(await counts(query)).toEqual(expected);
  });

  test("has the total of a search with the same filters", async () => {
    for (const filter of [
      "account_id=1",
      "account_id=1,2&transaction_type=PAYMENT",
      "account_id=1&state=cancelled",
      "account_id=1&payment_states=error&dispute_states=lost",
      `${all}&from_date=2024-03-05T09:30:00Z&to_date=2024-06-30T23:00:00Z`,
      "account_id=1&from_date=2024-03-05T00:00:00Z&to_date=2024-03-07T10:30:00Z",
    ]) {
      const { total } = await get(`/v1/transaction?${filter}&display_size=1`);
      expect((await report(filter)).groups[0].count).toBe(total);
      expect(total).toBeGreaterThan(0);
    }
  });

  test("has pages that a client follows, each with the size that was asked for", async () => {
    const query = `${all}&group_by=account,day,state&display_size=4`;
    const pages = await ledger.pages(`/v1/report/transactions?${query}`);
    for (const page of pages.slice(0, -1)) expect(page.groups).toHaveLength(4);
    const groups = pages.flatMap((page) => page.groups);
    expect(groups).toEqual((await report(`${all}&group_by=account,day,state`)).groups);
    expect(groups.length).toBeGreaterThan(8);
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
        "1,false,1,17,0,0,0,0,17",
        "1,true,9,4636,2000,-560,1560,0,4736",
        "2,,1,19,0,0,0,4,19",
        "ten,true,2,18014398509481982,0,0,0,0,18014398509481982",
        ",true,1,23,0,0,0,0,23",
      ].join("\n")}\n`,
    );
    expect((await ledger.request(`${path}&format=csv`)).text).toBe(csv.text);
  });

  test.each([
    ["account_id=1&group_by=email", /group_by/],
    ["account_id=1&group_by=card_brand,day", /group_by/],
    ["account_id=1&group_by=day,day", /group_by/],
    ["account_id=1&email=a", /email/],
    ["account_id=1&metadata_value=a", /metadata_value/],
    ["account_id=1&card_brands=visa", /card_brands/],
    ["account_id=1&time_zone=Europe/Paris", /time_zone/],
    ["account_id=1&from_date=yesterday", /from_date/],
    ["account_id=1&state=failed", /state must be one of/],
    ["account_id=1&display_size=0", /display_size/],
    ["account_id=1&group_by=day&cursor=W10", /cursor must be from a link/],
    ["account_id=1&group_by=day&cursor=WzFd", /cursor must be from a link/],
    ["account_id=1&cursor=W10", /cursor must be from a link/],
    ["group_by=day", /Field \[account_id\] cannot be empty/],
  ])("refuses %s by name", async (query, expected) => {
    expect(await refused(`/v1/report/transactions?${query}`)).toMatch(expected);
  });
});

describe("the reports of alphagov/pay-ledger", () => {
  const march = "from_date=2024-03-01T00:00:00Z&to_date=2024-04-01T00:00:00Z";

  test("transactions-summary", async () => {
    const path = "/v1/report/transactions-summary";
    expect(await get(`${path}?account_id=1&${march}&include_moto_statistics=true`)).toEqual({
      payments: { count: 2, gross_amount: 3000 },
      moto_payments: { count: 1, gross_amount: 2000 },
      refunds: { count: 1, gross_amount: 300 },
      net_income: 2700,
    });
    expect(await get(`${path}?account_id=1&${march}`)).toMatchObject({
      moto_payments: { count: 0, gross_amount: 0 },
    });
    expect(await get(`${path}?${all}&override_from_date_validation=true`)).toMatchObject({
      payments: { count: 5 },
    });
    // The bounds are exclusive.
    expect(await get(`${path}?account_id=1&from_date=2024-03-05T09:14:22.018Z`)).toMatchObject({
      payments: { count: 1 },
    });
    expect(await refused(`${path}?account_id=1`)).toBe("Field [from_date] can not be null");
    expect(await refused(path)).toBe("Field [from_date] can not be null");
    expect(await refused(`${path}?${march}`)).toBe("Field [account_id] cannot be empty");
    expect(await refused(`${path}?account_id=1&from_date=2024-03-05`)).toMatch(/from_date/);
  });

  test("payments_by_state adds up the states that have one name", async () => {
    const statuses =
      "undefined created started submitted capturable success declined timedout cancelled error needs_response under_review lost won";
    const none = Object.fromEntries(statuses.split(" ").map((status) => [status, 0]));
    const path = "/v1/report/payments_by_state";
    expect(await get(`${path}?account_id=1`)).toEqual({
      ...none,
      created: 1,
      success: 2,
      cancelled: 2,
      error: 2,
    });
    expect(await get(`${path}?${all}&include_moto_statistics=true`)).toMatchObject({
      success: 5,
      created: 2,
    });
    expect(await get(`${path}?account_id=none`)).toEqual(none);
    expect(await get(`${path}?account_id=1&to_date=2024-03-06T23:59:59.999999Z`)).toMatchObject({
      cancelled: 1,
    });
    expect(await refused(path)).toBe("Field [account_id] cannot be empty");
  });

  test("transactions-by-hour has live transactions of every type, with both bounds", async () => {
    const path = "/v1/report/transactions-by-hour";
    const dates = "from_date=2024-03-05T09:14:22.018Z&to_date=2024-03-07T10:00:00Z";
    const hours = await get(`${path}?${dates}`);
    expect(hours[0]).toEqual({
      timestamp: "2024-03-05T09:00:00.000000Z",
      all_payments: 2,
      errored_payments: 0,
      completed_payments: 2,
      amount: 2900,
      net_amount: 1940,
      total_amount: 2000,
      fee: 60,
    });
    const none = { errored_payments: 0, net_amount: 0, total_amount: 0, fee: 0, all_payments: 1 };
    expect(hours.slice(1)).toEqual([
      { ...none, timestamp: "2024-03-06T00:00:00.000000Z", completed_payments: 0, amount: 5 },
      { ...none, timestamp: "2024-03-06T23:00:00.000000Z", completed_payments: 0, amount: 7 },
      { ...none, timestamp: "2024-03-07T10:00:00.000000Z", completed_payments: 1, amount: 300 },
    ]);
    const april = await get(`${path}?from_date=2024-04-01T00:00:00Z&to_date=2024-04-02T00:00:00Z`);
    expect(april).toMatchObject([{ all_payments: 2, errored_payments: 2, amount: 24 }]);
    expect(await get(`${path}?from_date=2024-07-02T00:00:00Z&to_date=2024-01-01T00:00:00Z`)).toEqual([]);
    expect(await refused(`${path}?from_date=2024-07-02T00:00:00Z`)).toMatch(/to_date/);
    expect(await refused(`${path}?${dates}&cursor=W10`)).toMatch(/cursor/);
  });

  test("performance-report has days, performance-report-legacy instants", async () => {
    const path = "/v1/report/performance-report";
    const volume = (total_volume: number, total_amount: number, average_amount: number) => ({
      total_volume,
      total_amount,
      average_amount,
    });
    const ofDays = (from: string, to: string, more = "") =>
      get(`${path}?from_date=${from}&to_date=${to}${more}`);
    expect(await ofDays("2024-03-05", "2024-03-06")).toEqual(volume(4, 3012, 753));
    expect(await ofDays("2024-03-05", "2024-03-05", "&state=SUCCESS")).toEqual(volume(2, 3000, 1500));
    expect(await ofDays("2023-03-05", "2023-03-05")).toEqual(volume(0, 0, 0));
    expect(await get(path)).toMatchObject({ total_volume: 9 });
    expect(
      await get(`${path}-legacy?from_date=2024-03-05T09:59:59.999999Z&to_date=2024-03-06T00:00:00Z`),
    ).toEqual(volume(2, 2005, 1002.5));
    expect(await get(`${path}-legacy`)).toEqual(await get(path));
    for (const one of ["from_date=2024-03-05", "to_date=2024-03-05"]) {
      expect(await refused(`${path}?${one}`)).toBe("Both from_date and to_date must be provided");
      expect(await refused(`${path}-legacy?${one}T00:00:00Z`)).toBe(
        "Both from_date and to_date must be provided",
      );
    }
    expect(await refused(`${path}?state=success`)).toMatch(/state/);
    expect(await refused(`${path}?from_date=2024-02-30&to_date=2024-03-01`)).toMatch(/from_date/);
  });

  test("gateway-performance-report has a row for each account and month", async () => {
    const path = "/v1/report/gateway-performance-report";
    expect(await get(`${path}?from_date=2024-01-01&to_date=2024-12-31`)).toEqual([
      {
        gateway_account_id: 1,
        total_volume: 2,
        total_amount: 3000,
        average_amount: 1500,
        year: 2024,
        month: 3,
      },
      {
        gateway_account_id: "ten",
        total_volume: 2,
        total_amount: Number(18_014_398_509_481_982n),
        average_amount: 9_007_199_254_740_991,
        year: 2024,
        month: 7,
      },
      {
        gateway_account_id: null,
        total_volume: 1,
        total_amount: 23,
        average_amount: 23,
        year: 2024,
        month: 7,
      },
    ]);
    expect(await get(`${path}?from_date=2024-03-06&to_date=2024-03-31`)).toEqual([]);
    expect(await refused(`${path}?from_date=2024-03-06&to_date=2024-03-05`)).toBe(
      "from_date must be earlier or equal to to_date",
    );
    expect(await refused(`${path}?from_date=2024-03-06`)).toMatch(/to_date/);
  });
});

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
    expect(await get(`${path}?${day}&event_types=PAYMENT_CREATED&event_types=REFUND_SUCCEEDED`)).toHaveLength(
      2,
    );
    expect(await get(`${path}?${day}&event_types=payment_created`)).toEqual([]);
    expect(await get(`${path}?from_date=2024-06-30T00:00:00Z&to_date=2024-06-30T23:59:59Z`)).toEqual([]);
    for (const missing of ["from_date", "to_date"])
      expect(await refused(`${path}?${missing}=`)).toMatch(missing);
    expect(await refused(`${path}?${day}&cursor=W10`)).toMatch(/cursor/);
  });

  test("has pages of 200 events, to which Link leads with the other parameters", async () => {
    await using many = await startLedger();
    const timeOf = (n: number) => `2024-03-05T10:${String(Math.floor(n / 7)).padStart(2, "0")}:00Z`;
    await many.store(...Array.from({ length: 410 }, (_, n) => story(`many${n}`, timeOf(n), {})));
    const seen: { event_date: string; resource_external_id: string }[][] = [];
    const types = "event_types=A&event_types=PAYMENT_CREATED";
    let next: string | undefined =
      `${path}?from_date=2024-03-05T00:00:00Z&to_date=2024-03-06T00:00:00Z&${types}`;
    while (next !== undefined) {
      const { json, headers }: Awaited<ReturnType<typeof ledger.request>> = await many.request(next);
      seen.push(json);
      next = /^<([^>]+)>; rel="next"$/.exec(String(headers.link))?.[1]?.slice(many.base.length);
    }
    expect(seen.map(({ length }) => length)).toEqual([200, 200, 10]);
    expect(new Set(seen.flat().map(({ resource_external_id }) => resource_external_id)).size).toBe(410);
    const instants = seen.flat().map(({ event_date }) => event_date);
    expect(instants).toEqual(instants.toSorted().toReversed());
  });
});

test("reports are never behind, and merging changes nothing", async () => {
  await using own = await startLedger();
  const query = "/v1/report/transactions?account_id=1&group_by=state,day";
  for (const [index, [created, confirmed]] of stories.slice(0, 2).entries()) {
    await own.store([created as object]);
    await own.until(query, {
      groups: expect.arrayContaining([expect.objectContaining({ state: "created", count: 1 })]),
    });
    await own.send(confirmed as object);
    await own.until(query, { groups: [{ state: "success", day: "2024-03-05", count: index + 1 }] });
    const before = (await own.request(query)).text;
    await mergeSummaryChanges(own.database, 1000);
    expect((await own.request(query)).text).toBe(before);
  }
});
