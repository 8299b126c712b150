import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { childStory, type Step, story } from "../../testing/messages.ts";
import { startLedger } from "./ledger.fixture.ts";

let ledger: Awaited<ReturnType<typeof startLedger>>;
beforeAll(async () => {
  ledger = await startLedger();
  await ledger.store(...transactions);
});
afterAll(() => ledger[Symbol.asyncDispose]());

const card = {
  email: "Angler_1@example.org",
  cardholder_name: "Ängström %",
  card_brand: "visa",
  first_digits_card_number: "424242",
  last_digits_card_number: "4242",
};
const created = (time: string, details: object): Step => [time, "PAYMENT_CREATED", details];

/** Default account: 57. `p1` is the oldest. */
const transactions = [
  story("payment", "p1", created("10:01", { reference: "LIC-1", ...card }), [
    "10:30",
    "CAPTURE_CONFIRMED",
    { gateway_payout_id: "po1" },
  ]),
  story("payment", "p2", created("10:02", { reference: "lic-2", agreement_id: "agr1", card_brand: "amex" }), [
    "10:30",
    "AUTHORISATION_REJECTED",
  ]),
  story(
    "payment",
    "p3",
    created("10:03", { reference: "100%", external_metadata: { a: "North", b: 2, c: true } }),
    ["10:30", "PAYMENT_EXPIRED"],
  ),
  story(
    "payment",
    "p4",
    created("10:04", { reference: "a_b\\c", external_metadata: { x: "NORTH", y: "north" } }),
    ["10:30", "CANCELLED_BY_USER"],
  ),
  story("payment", "p5", created("10:05", { reference: "f{o{o}{ &?", gateway_transaction_id: "gtx5" }), [
    "10:30",
    "CANCELLED_BY_EXTERNAL_SERVICE",
  ]),
  story("payment", "p6", created("10:06", { email: "other@example.org" }), [
    "10:30",
    "AUTHORISATION_SUCCEEDED",
  ]),
  story("payment", "p7", created("10:07", {}), ["10:30", "GATEWAY_ERROR_DURING_AUTHORISATION"]),
  story("payment", "p8", ["10:08", "PAYMENT_DETAILS_ENTERED"]),
  childStory(
    "refund",
    "r1",
    "p1",
    ["10:09", "REFUND_SUBMITTED", { gateway_payout_id: "po2" }],
    ["10:10", "REFUND_SUCCEEDED"],
  ),
  childStory("refund", "r2", "p1", ["10:10", "REFUND_SUBMITTED"]),
  childStory("dispute", "d1", "p1", ["10:11", "DISPUTE_CREATED"], ["10:12", "DISPUTE_WON"]),
  childStory("dispute", "d2", "p1", ["10:12", "DISPUTE_CREATED"]),
  story(
    "payment",
    "q1",
    created("10:05", { gateway_account_id: "58", reference: "LIC-9", gateway_payout_id: "po3" }),
  ),
  story("payment", "q2", created("10:05", { gateway_account_id: "59" })),
  story("payout", "po1", ["11:00", "PAYOUT_PAID", { paid_out_date: "2020-09-07T00:00:00Z" }]),
  story("payout", "po2", ["11:00", "PAYOUT_PAID", { paid_out_date: "2020-09-08T23:59:59.999999Z" }]),
  story("payout", "po3", [
    "11:00",
    "PAYOUT_PAID",
    { paid_out_date: "2020-09-09T00:00:00Z", gateway_account_id: "58" },
  ]),
];
const all57 = ["d2", "d1", "r2", "r1", "p8", "p7", "p6", "p5", "p4", "p3", "p2", "p1"];
const withCard = ["d2", "d1", "r2", "r1", "p1"];

interface Found {
  results: { transaction_id: string }[];
  total: number;
}
const idsOf = ({ results }: Found) => results.map(({ transaction_id }) => transaction_id);
const search = async (query: string) => (await ledger.request(`/v1/transaction?${query}`)).json;

describe("search finds", () => {
  test.each<[string, string[]]>([
    ["", all57],
    ["email=angler_1", withCard],
    ["email=ANGLER", withCard],
    ["email=angler-1", []],
    ["reference=lic", [...withCard.slice(0, 4), "p2", "p1"]],
    ["reference=LIC-1", withCard],
    ["reference=%25", ["p3"]],
    ["reference=_", ["p4"]],
    ["reference=b%5Cc", ["p4"]],
    ["reference=f%7Bo%7Bo%7D%7B", ["p5"]],
    ["reference=%26%3F", ["p5"]],
    ["reference=lic&exact_reference_match=true", []],
    ["reference=lic-2&exact_reference_match=true", ["p2"]],
    ["reference=LIC-2&exact_reference_match=true", ["p2"]],
    ["reference=100%25&exact_reference_match=true", ["p3"]],
    ["reference=lic-2&exact_reference_match=false", ["p2"]],
    ["exact_reference_match=true", all57],
    ["cardholder_name=ngstr%C3%B6m+%25", withCard],
    ["cardholder_name=strom", []],
    ["first_digits_card_number=424242", withCard],
    ["first_digits_card_number=4242", []],
    ["last_digits_card_number=4242", withCard],
    ["card_brands=visa", withCard],
    ["card_brands=visa,amex", [...withCard.slice(0, 4), "p2", "p1"]],
    ["card_brands=Visa", []],
    ["state=success", ["r1", "p1"]],
    ["state=declined", ["p2"]],
    ["state=timedout", ["p3"]],
    ["state=cancelled", ["p5", "p4"]],
    ["state=cancelled&status_version=1", ["p5"]],
    ["state=failed&status_version=1", ["p4", "p3", "p2"]],
    ["state=error", ["p7"]],
    ["state=undefined", ["p8"]],
    ["state=submitted", ["r2", "p6"]],
    ["state=won", ["d1"]],
    ["payment_states=success,submitted", ["p6", "p1"]],
    ["payment_states=failed&status_version=1", ["p4", "p3", "p2"]],
    ["refund_states=success", ["r1"]],
    ["dispute_states=won,needs_response", ["d2", "d1"]],
    ["refund_states=success&payment_states=submitted", ["r1", "p6"]],
    ["refund_states=success&payment_states=submitted&dispute_states=won", ["d1", "r1", "p6"]],
    ["refund_states=success&payment_states=submitted&state=success", ["r1"]],
    ["refund_states=success&transaction_type=PAYMENT", []],
    ["transaction_type=PAYMENT", all57.slice(4)],
    ["transaction_type=refund", ["r2", "r1"]],
    ["from_date=2024-03-05T10:09:00Z", ["d2", "d1", "r2"]],
    ["from_date=2024-03-05T11:08:59.999999%2B01:00", ["d2", "d1", "r2", "r1"]],
    ["to_date=2024-03-05T10:02Z", ["p1"]],
    ["from_date=2024-03-05T10:02:00Z&to_date=2024-03-05T10:04:00Z", ["p3"]],
    ["from_settled_date=2020-09-07", ["r1", "p1"]],
    ["from_settled_date=2020-09-08", ["r1"]],
    ["to_settled_date=2020-09-07", ["p1"]],
    ["from_settled_date=2020-09-07&to_settled_date=2020-09-08", ["r1", "p1"]],
    ["gateway_payout_id=po1", ["p1"]],
    ["gateway_payout_id=PO1", []],
    ["gateway_transaction_id=gtx5", ["p5"]],
    ["agreement_id=agr1", ["p2"]],
    ["metadata_value=north", ["p4", "p3"]],
    ["metadata_value=2", ["p3"]],
    ["metadata_value=True", ["p3"]],
    ["metadata_value=nort", []],
    ["reference=lic&state=success&card_brands=visa&email=angler", ["r1", "p1"]],
  ])("%s", async (query, ids) => {
    const found = await search(`account_id=57&${query}`);
    expect(idsOf(found)).toEqual(ids);
    expect(found.total).toBe(ids.length);
    const ofAllAccounts = await search(`override_account_id_restriction=true&${query}`);
    expect(idsOf(ofAllAccounts)).toEqual(expect.arrayContaining(ids));
  });

  test("statuses of the requested version", async () => {
    const statusWith = async (query: string) =>
      (await search(`account_id=57&reference=lic-2&${query}`)).results[0].state.status;
    expect([
      await statusWith(""),
      await statusWith("status_version=2"),
      await statusWith("status_version=1"),
    ]).toEqual(["declined", "declined", "failed"]);
  });

  test.each([
    ["account_id=58", ["q1"]],
    ["account_id=58,59", ["q2", "q1"]],
    ["account_id=59,58,59", ["q2", "q1"]],
    ["account_id=57,58&reference=lic-9", ["q1"]],
    ["account_id=58&from_settled_date=2020-09-09", ["q1"]],
    ["account_id=58&to_settled_date=2020-09-08", []],
    ["account_id=57&override_account_id_restriction=true&reference=lic-9", []],
    ["override_account_id_restriction=true&reference=lic-9", ["q1"]],
    ["override_account_id_restriction=true&from_settled_date=2020-09-09", ["q1"]],
  ])("transactions of the named accounts only: %s", async (query, ids) => {
    const found = await search(query);
    expect([idsOf(found), found.total]).toEqual([ids, ids.length]);
  });
});

describe("search rejects", () => {
  const statuses2 =
    "undefined, created, started, submitted, capturable, success, declined, timedout, cancelled, error, needs_response, under_review, lost, won";
  const statuses1 = statuses2.replace("declined, timedout, cancelled", "failed, cancelled");
  const statuses = statuses2.replace("declined", "failed, declined");
  test.each([
    [
      "from_date=wrong-date",
      "query parameter from_date must be an instant with a UTC offset, such as 2024-03-05T09:14:22Z",
    ],
    [
      "to_date=2024-03-05",
      "query parameter to_date must be an instant with a UTC offset, such as 2024-03-05T09:14:22Z",
    ],
    [
      "from_date=2024-03-05T10:00:00",
      "query parameter from_date must be an instant with a UTC offset, such as 2024-03-05T09:14:22Z",
    ],
    [
      "from_settled_date=2024-02-30",
      "query parameter from_settled_date must be a calendar day, such as 2024-03-05",
    ],
    [
      "to_settled_date=2024-03-05T00:00:00Z",
      "query parameter to_settled_date must be a calendar day, such as 2024-03-05",
    ],
    ["state=bogus", `query parameter state must be one of ${statuses}`],
    ["state=Success", `query parameter state must be one of ${statuses}`],
    ["state=failed", `query parameter state must be one of ${statuses2} with status_version 2`],
    [
      "state=declined&status_version=1",
      `query parameter state must be one of ${statuses1} with status_version 1`,
    ],
    [
      "payment_states=success,failed",
      `query parameter payment_states must be one of ${statuses2} with status_version 2`,
    ],
    [
      "refund_states=failed",
      `query parameter refund_states must be one of ${statuses2} with status_version 2`,
    ],
    [
      "dispute_states=won,timedout&status_version=1",
      `query parameter dispute_states must be one of ${statuses1} with status_version 1`,
    ],
    ["refund_states=success,bogus", `query parameter refund_states/1 must be one of ${statuses}`],
    ["dispute_states=won,,bogus,", `query parameter dispute_states/1 must be one of ${statuses}`],
    ...[
      "2024-03-05T00:00:00%2B18:01",
      "2024-03-05T00:00:00-19:00",
      "2024-03-05T00:00:00Z[Europe/Nowhere]",
    ].map((instant) => [
      `to_date=${instant}`,
      "query parameter to_date must be an instant with a UTC offset, such as 2024-03-05T09:14:22Z",
    ]),
    ["format=xml", "query parameter format must be one of json, csv"],
    ["transaction_type=bogus", "query parameter transaction_type must be one of PAYMENT, REFUND, DISPUTE"],
    ["status_version=0", "query parameter status_version must be one of 1, 2"],
    ["exact_reference_match=yes", "query parameter exact_reference_match must be boolean"],
    ["limit_total=1", "query parameter limit_total must be boolean"],
    ["limit_total_size=0", "query parameter limit_total_size must be >= 1"],
    ["page=0", "query parameter page must be >= 1"],
    ["display_size=0", "query parameter display_size must be >= 1"],
    ["display_size=-5", "query parameter display_size must be >= 1"],
    ["metadata_value=%00", 'query parameter metadata_value must match pattern "^[^\\x00]*$"'],
    ["cursor=bogus", "query parameter cursor must be from a link next_cursor"],
    ["cursor=WyJ4Iiwi", "query parameter cursor must be from a link next_cursor"],
    ["cursor=%25", 'query parameter cursor must match pattern "^[A-Za-z0-9_-]+$"'],
  ])("%s", async (query, text) => {
    const { status, json } = await ledger.request(`/v1/transaction?account_id=57&${query}`);
    expect(status).toBe(400);
    expect(json.message).toContain(text);
  });

  test.each([
    ["", 400],
    ["account_id=", 400],
    ["account_id=57&page=-1", 400],
    ["account_id=57&page=x", 400],
    ["account_id=57&page=99999999999999999999", 400],
    ["account_id=57&page=2147483647&display_size=2147483647", 404],
    ["account_id=%20", 400],
    ["account_id=,,", 400],
    ["account_id=57&reference=%00", 400],
    ["account_id=57&colour=red", 400],
  ])("the query %j with %i", async (query, status) => {
    expect((await ledger.request(`/v1/transaction?${query}`)).status).toBe(status);
  });

  const instant = "2024-03-05T10:00:00.000000Z";
  test.each([
    [[]],
    [[instant, "p1", "1", 2]],
    [["yesterday", "p1", "1", 2, 12]],
    [["2024-03-05T10:00Z", "p1", "1", 2, 12]],
    [[instant, "p\0", "1", 2, 12]],
    [[instant, "\ud800", "1", 2, 12]],
    [[instant, 1, "1", 2, 12]],
    [[instant, "p1", 1, 2, 12]],
    [[instant, "p1", "9".repeat(19), 2, 12]],
    [[instant, "p1", "-1", 2, 12]],
    [[instant, "p1", "1", -2, 12]],
    [[instant, "p1", "1", 0, 12]],
    [[instant, "p1", "1", 1, 12]],
    [[instant, "p1", "1", 2, 0]],
    [[instant, "p1", "01", 2, 12]],
    [[instant, "p1", "0", 2, 12]],
    [[instant, "p1", "1:2", 2, 12]],
    [[instant, "p1", "1:2:3,", 2, 12]],
    [[instant, "p1", "1:2:3,04", 2, 12]],
    [[instant, "p1", "1:-2:", 2, 12]],
    [[instant, "p1", "1:2:a", 2, 12]],
    [[instant, "p1", "1", 2.5, 12]],
    [[instant, "p1", "1", 2, "12"]],
  ])("a forged cursor: %j", async (members) => {
    const cursor = Buffer.from(JSON.stringify(members)).toString("base64url");
    expect(await ledger.request(`/v1/transaction?account_id=57&cursor=${cursor}`)).toMatchObject({
      status: 400,
      json: { message: ["query parameter cursor must be from a link next_cursor"] },
    });
  });

  test.each([
    ["with a space", JSON.stringify([instant, "p1", "1", 2, 12], undefined, 1), ""],
    ["with an escape", JSON.stringify([instant, "p1", "1", 2, 12]).replace("p1", "\\u0070\\u0031"), ""],
    ["with a padding character", JSON.stringify([instant, "p1", "1", 2, 12]), "="],
    ["with bytes that are not UTF-8", Buffer.from(`["${instant}","\xff","1",2,12]`, "latin1"), ""],
  ])("a cursor in another encoding: %s", async (_title, members, suffix) => {
    const cursor = Buffer.from(members as string).toString("base64url") + suffix;
    expect((await ledger.request(`/v1/transaction?account_id=57&cursor=${cursor}`)).status).toBe(400);
  });

  test("a page beyond the last, unless nothing matches", async () => {
    expect(await ledger.request("/v1/transaction?account_id=57&page=2")).toMatchObject({
      status: 404,
      json: { message: ["the requested page not found"] },
    });
    expect(await search("account_id=none&page=2")).toMatchObject({
      total: 0,
      count: 0,
      page: 2,
      results: [],
    });
    expect((await search("account_id=none&page=5"))._links.prev_page.href).toContain("page=1&");
  });
});

/** Follows a link from page to page until a page lacks it. Returns the ids of each page. */
async function follow(
  query: string,
  link: "next_page" | "next_cursor",
  afterEachPage?: () => Promise<void>,
  server = ledger,
) {
  const pages: string[][] = [];
  let total = 0;
  let path = `/v1/transaction?${query}`;
  while (path !== "") {
    const { json } = await server.request(path);
    expect(json.page).toBe(pages.length + 1);
    if (pages.length === 0) total = json.total;
    if (link === "next_cursor") expect(json.total).toBe(total);
    pages.push(idsOf(json));
    path = json._links[link]?.href.slice(server.base.length) ?? "";
    await afterEachPage?.();
    expect(pages.length).toBeLessThan(20);
  }
  return pages;
}

describe("pages", () => {
  test("keep every filter in their links", async () => {
    const given = {
      account_id: "57,58",
      from_date: "2024-01-01T00:00:00+01:00",
      to_date: "2025-01-01T00:00:00Z",
      email: "an~gler 1",
      reference: "lic",
      cardholder_name: "n",
      first_digits_card_number: "424242",
      last_digits_card_number: "4242",
      payment_states: "failed,success",
      refund_states: "success",
      dispute_states: "won",
      card_brands: "visa,amex",
      state: "success",
      transaction_type: "payment",
      gateway_payout_id: "po1",
      from_settled_date: "2020-01-01",
      to_settled_date: "2021-01-01",
      metadata_value: "x",
      agreement_id: "y",
      gateway_transaction_id: "z",
      exact_reference_match: "true",
      override_account_id_restriction: "true",
      status_version: "1",
      limit_total: "true",
      limit_total_size: "5001",
    };
    const { _links: links } = await search(`${new URLSearchParams(given)}&page=3&display_size=7`);
    const expected = new URLSearchParams({
      ...given,
      transaction_type: "PAYMENT",
      page: "3",
      display_size: "7",
    });
    expect(links.self.href).toBe(`${ledger.base}/v1/transaction?${expected}`);
    expect(links.self.href).toContain("account_id=57%2C58&from_date=2024-01-01T00%3A00%3A00%2B01%3A00");
    expect(links.self.href).toContain("email=an%7Egler+1");
  });

  test("omit defaults from their links, and keep the path of the request", async () => {
    const query =
      "account_id=57&status_version=2&limit_total=false&exact_reference_match=false&fee_headers=true";
    const { json } = await ledger.request(`/v1/transaction/?${query}&display_size=5`);
    expect(json._links).toEqual({
      self: { href: `${ledger.base}/v1/transaction/?account_id=57&page=1&display_size=5` },
      first_page: { href: `${ledger.base}/v1/transaction/?account_id=57&page=1&display_size=5` },
      last_page: { href: `${ledger.base}/v1/transaction/?account_id=57&page=3&display_size=5` },
      next_page: { href: `${ledger.base}/v1/transaction/?account_id=57&page=2&display_size=5` },
      next_cursor: { href: expect.stringContaining("/v1/transaction/?account_id=57&cursor=") },
    });
  });

  test("link to the address of the connection if the request has no Host header", async () => {
    const { hostname, port } = new URL(ledger.base);
    const socket = connect(Number(port), hostname);
    socket.write("GET /v1/transaction?account_id=57 HTTP/1.0\r\n\r\n");
    expect(await text(socket)).toContain(`"self":{"href":"${ledger.base}/v1/transaction?account_id=57&`);
  });

  test("link to the host of an absolute request target, whatever the Host header is", async () => {
    const { hostname, port } = new URL(ledger.base);
    const socket = connect(Number(port), hostname);
    const target = "http://ledger.test:99/v1/transaction?account_id=57&display_size=5";
    socket.write(`GET ${target} HTTP/1.1\r\nhost: other.test\r\nconnection: close\r\n\r\n`);
    const response = await text(socket);
    const links = [...response.matchAll(/"href":"([^"]*)"/g)].map(([, href = ""]) => href);
    expect(links).toHaveLength(5);
    for (const href of links)
      expect(href).toMatch(/^http:\/\/ledger\.test:99\/v1\/transaction\?account_id=57&/);
  });

  test.each(["next_page", "next_cursor"] as const)("by %s return each match once", async (link) => {
    expect((await follow("account_id=57&display_size=5", link)).flat()).toEqual(all57);
    expect(await follow("account_id=57&display_size=6", link)).toEqual([all57.slice(0, 6), all57.slice(6)]);
    expect((await follow("account_id=57,58,59&reference=lic&display_size=1", link)).flat()).toEqual([
      ...withCard.slice(0, 4),
      "q1",
      "p2",
      "p1",
    ]);
    const ties = await follow("override_account_id_restriction=true&display_size=1", link);
    expect(ties.flat().slice(7, 10)).toEqual(["q2", "q1", "p5"]);
  });

  test("with a limited total have no link last_page, and end after a page that is not full", async () => {
    const limited = "account_id=57&limit_total=true&limit_total_size=10&display_size=5";
    expect(await search(limited)).toMatchObject({ total: 10, count: 5 });
    expect((await follow(limited, "next_page")).map((page) => page.length)).toEqual([5, 5, 2]);
    expect((await search(limited))._links).not.toHaveProperty("last_page");
    const beyond = await search(`${limited}&page=9`);
    expect(beyond).toMatchObject({ total: 10, count: 0, page: 9, results: [] });
    expect(beyond._links.prev_page.href).toContain("page=8");
    expect(beyond._links).not.toHaveProperty("next_page");
    expect(await search("account_id=57&limit_total=true&limit_total_size=4&display_size=5")).toMatchObject({
      total: 12,
    });
    expect(await search("account_id=57&limit_total=true&limit_total_size=5&display_size=5")).toMatchObject({
      total: 5,
    });
    expect(await search("account_id=57&limit_total_size=4&display_size=5")).toMatchObject({ total: 12 });
    // The display size is compared as it was sent, although a page has at most 500 rows.
    const aboveMaximum = "account_id=57&limit_total=true&limit_total_size=11&display_size=501";
    expect(await search(aboveMaximum)).toMatchObject({ total: 12 });
  });

  test.each([
    ["card_brands=&email=%20&reference=&from_date=&page=&limit_total=&format=&state=&cursor=", ""],
    ["card_brands=,,visa,&payment_states=success,,", "card_brands=visa&payment_states=success"],
    ["page=01&display_size=005", "page=1&display_size=5"],
    ["limit_total=TRUE&exact_reference_match=False", "limit_total=true&exact_reference_match=false"],
    ["from_date=2024-03-05t10:00:00z", "from_date=2024-03-05T10:00:00Z"],
    ["from_date=2024-03-05T10:00:00%2B00:00[Europe/London]", "from_date=2024-03-05T10:00:00Z"],
  ])("are the same for %s and %s", async (query, same) => {
    const { json, text } = await ledger.request(`/v1/transaction?account_id=57,&${query}`);
    const expected = await ledger.request(`/v1/transaction?account_id=57&${same}`);
    expect(json.results).toEqual(expected.json.results);
    expect(json.total).toBe(expected.json.total);
    expect(text).not.toContain("card_brands=&");
  });

  test("include a transaction before a to_date that is finer than a microsecond", async () => {
    const [newest] = (await search("account_id=57&display_size=1")).results;
    const { events } = (
      await ledger.request(`/v1/transaction/${newest.transaction_id}/event?gateway_account_id=57`)
    ).json;
    const created = events
      .map(({ timestamp }: { timestamp: string }) => timestamp)
      .sort()[0]
      .slice(0, -1);
    const until = async (instant: string) => (await search(`account_id=57&to_date=${instant}`)).total;
    const before = await until(`${created}Z`);
    expect(await until(`${created}001Z`)).toBe(before + 1);
    expect(await until(`${created}000Z`)).toBe(before);
  });

  test("have at most 500 rows", async () => {
    expect((await search("account_id=57&display_size=501"))._links.self.href).toContain("display_size=500");
  });

  test("by cursor continue after the previous page, keep its total, and cannot be combined with page", async () => {
    const first = await search("account_id=57&display_size=5");
    const second = (await ledger.request(first._links.next_cursor.href.slice(ledger.base.length))).json;
    expect(second).toMatchObject({ total: 12, count: 5, page: 2 });
    expect(Object.keys(second._links)).toEqual(["self", "first_page", "next_cursor"]);
    expect(second._links.self.href).toBe(first._links.next_cursor.href);
    const wider = first._links.next_cursor.href.replace("display_size=5", "display_size=500");
    expect((await ledger.request(wider.slice(ledger.base.length))).json.count).toBe(7);
    const both = `${first._links.next_cursor.href.slice(ledger.base.length)}&page=2`;
    expect(await ledger.request(both)).toMatchObject({
      status: 400,
      json: { message: ["query parameters cursor and page cannot be used together"] },
    });
  });

  test("by cursor continue after an id of control characters", async () => {
    await using ledger = await startLedger();
    const idEndingWith = (last: string) => "\u0001".repeat(254) + last;
    await ledger.store(
      ...["a", "b", "c"].map((last) =>
        story("payment", idEndingWith(last), created("10:00", { gateway_account_id: "61" })),
      ),
    );
    const pages = await follow("account_id=61&display_size=1", "next_cursor", undefined, ledger);
    expect(pages.flat()).toEqual(["c", "b", "a"].map(idEndingWith));
  });

  test("by cursor have no transaction that arrived in the meantime, whatever its date", async () => {
    await using ledger = await startLedger();
    const query = "account_id=60&display_size=2";
    const at = (id: string, time: string) =>
      story("payment", id, created(time, { gateway_account_id: "60" }));
    await ledger.store(
      ...["10:10", "10:20", "10:30", "10:40", "10:50"].map((time, index) => at(`s${index}`, time)),
    );
    let pagesRead = 0;
    const addTransactions = async () => {
      pagesRead += 1;
      await ledger.store(
        at(`new${pagesRead}`, "10:55"),
        at(`late${pagesRead}`, "10:05"),
        at(`between${pagesRead}`, "10:25"),
      );
    };
    const pages = await follow(query, "next_cursor", addTransactions, ledger);
    expect(pages).toEqual([["s4", "s3"], ["s2", "s1"], ["s0"]]);
    expect((await ledger.request(`/v1/transaction?${query}`)).json).toMatchObject({ total: 14 });
  });
});
