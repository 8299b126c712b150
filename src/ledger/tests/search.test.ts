import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { linkIn } from "../../../testing/link-header.ts";
import { childStory, type Step, story } from "../../../testing/messages.ts";
import { ledgerOfFile } from "./ledger.fixture.ts";

// That a search finds the matches of any filters is in `model.test.ts`, and of any rows in `tables/search.test.ts`.

const payment = (id: string, time: string, details: object, ...types: string[]) =>
  story("payment", id, [time, "PAYMENT_CREATED", details], ...types.map((type): Step => ["10:30", type]));

/** Default account: 57. `p1` is the oldest. */
const transactions = [
  payment(
    "p1",
    "10:01",
    { reference: "LIC-1", card_brand: "visa", email: "Angler_1@example.org" },
    "CAPTURE_CONFIRMED",
  ),
  payment("p2", "10:02", { reference: "lic-2", card_brand: "amex" }, "AUTHORISATION_REJECTED"),
  payment("p3", "10:03", { reference: "100%", external_metadata: { a: "North", b: 2, c: true } }),
  payment("p4", "10:04", { reference: "a_b\\c", external_metadata: { x: "NORTH" } }, "CANCELLED_BY_USER"),
  payment("p5", "10:05", { reference: "f{o{o}{ &?", cardholder_name: "Ängström %" }),
  ...["p6", "p7", "p8"].map((id) => payment(id, `10:0${id.slice(1)}`, {}, "CAPTURE_CONFIRMED")),
  childStory("refund", "r1", "p1", ["10:09", "REFUND_SUBMITTED"], ["10:10", "REFUND_SUCCEEDED"]),
  childStory("refund", "r2", "p1", ["10:10", "REFUND_SUBMITTED"]),
  childStory("dispute", "d1", "p1", ["10:11", "DISPUTE_WON"]),
  childStory("dispute", "d2", "p1", ["10:12", "DISPUTE_CREATED"]),
  payment("q1", "10:05", { gateway_account_id: "58", reference: "LIC-9" }),
  payment("q2", "10:05", { gateway_account_id: "59" }),
];
const withCard = ["d2", "d1", "r2", "r1", "p1"];

const ledger = await ledgerOfFile();
await ledger.store(...transactions);
const idsOf = ({ results }: { results?: { transaction_id: string }[] }) =>
  results?.map(({ transaction_id }) => transaction_id) ?? [];
const search = (query: string) => ledger.get(`/v1/transaction?${query}`);

describe("search finds", () => {
  test.each<[string, string[]]>([
    ["email=ANGLER_", withCard],
    ["reference=%25", ["p3"]],
    ["reference=_", ["p4"]],
    ["reference=b%5Cc", ["p4"]],
    ["reference=%26%3F", ["p5"]],
    ["reference=LIC-2&exact_reference_match=true", ["p2"]],
    ["cardholder_name=NGSTR%C3%96M+%25", ["p5"]],
    ["cardholder_name=strom", []],
    ["refund_states=success&payment_states=declined&dispute_states=won", ["d1", "r1", "p2"]],
    ["refund_states=success&payment_states=declined&state=success", ["r1"]],
    ["metadata_value=True", ["p3"]],
    // The bounds are exclusive.
    ["from_date=2024-03-05T10:02:00Z&to_date=2024-03-05T10:04:00Z", ["p3"]],
    ["from_date=2024-03-05T11:08:59.999999%2B01:00", ["d2", "d1", "r2", "r1"]],
    ["account_id=59,58,59", ["q2", "q1"]],
    ["account_id=57&override_account_id_restriction=true&reference=lic-9", []],
    ["override_account_id_restriction=true&reference=lic-9", ["q1"]],
  ])("%s", async (query, ids) => {
    const found = await search(/account/.test(query) ? query : `account_id=57&${query}`);
    expect([idsOf(found), found.total]).toEqual([ids, ids.length]);
  });
});

describe("search rejects", () => {
  const statuses2 =
    '"undefined", created, started, submitted, capturable, success, declined, timedout, cancelled, error, ' +
    "needs_response, under_review, lost or won";
  const statuses1 = statuses2.replace("declined, timedout, cancelled", "failed, cancelled");
  const statuses = `must be one of ${statuses2.replace("declined", "failed, declined")}`;
  const [of1, of2] = [
    `must be one of ${statuses1} with status_version 1`,
    `must be one of ${statuses2} with status_version 2`,
  ];
  const instant = "must be an instant with a UTC offset, such as 2024-03-05T09:14:22Z";
  const calendarDay = "must be a calendar day, such as 2024-03-05";
  const unknownCursor = "must be from a header Link";
  const unknownTypes = "must be one of PAYMENT, REFUND or DISPUTE";
  test.each([
    ["from_date=2024-03-05T10:00:00", instant],
    ["to_date=2024-03-05", instant],
    ["from_settled_date=2024-02-30", calendarDay],
    ["to_settled_date=2024-03-05T00:00:00Z", calendarDay],
    ["state=bogus", statuses],
    ["state=Success", statuses],
    ["state=failed", of2],
    ["state=declined&status_version=1", of1],
    ["payment_states=success,failed", of2],
    ["refund_states=failed", of2],
    ["dispute_states=won,timedout&status_version=1", of1],
    ["refund_states=success,bogus", statuses, "refund_states/1"],
    ["dispute_states=won,,bogus,", statuses, "dispute_states/1"],
    ["format=xml", "must be json or csv"],
    ["transaction_type=bogus", unknownTypes],
    ["status_version=0", "must be 1 or 2"],
    ["exact_reference_match=yes", "must be true or false"],
    ["limit_total=2", "must be true or false"],
    ["live=maybe", "must be true or false"],
    ["live=null", "must be true or false"],
    ["limit_total_size=0", "must be at least 1"],
    ["page=0", "must be at least 1"],
    ["page=x", "must be an integer"],
    ["page=99999999999999999999", "must be at most 2147483647"],
    ["display_size=-5", "must be at least 1"],
    ["reference=%00", "must not contain NUL"],
    ["metadata_value=%00", "must not contain NUL"],
    ["cursor=bogus", unknownCursor],
    ["cursor=WyJ4Iiwi", unknownCursor],
    ["cursor=%25", "must be a text of letters, digits, hyphens and underscores"],
  ])("%s: it %s", async (query, text, name = query.split("=")[0]) => {
    const error = await ledger.getError(`/v1/transaction?account_id=57&${query}`);
    expect(error).toEqual([400, `query parameter ${name} ${text}`]);
  });

  test.each<[query: string, rule: object, meant?: string]>([
    ["to_settled_date=2024-03-05T00:00:00Z", { format: "date" }, "2024-03-05"],
    ["from_date=2024-03-05T10:00:00", { format: "date-time" }],
    ["state=Success", { enum: expect.arrayContaining(["success", "failed"]) }, "success"],
    ["state=failed", { enum: statuses2.replaceAll(`"`, "").split(/, | or /) }],
    ["refund_states=success,Lost,", { enum: expect.arrayContaining(["lost"]) }, "success,lost"],
    ["transaction_type=paymnt", { enum: ["PAYMENT", "REFUND", "DISPUTE"] }, "PAYMENT"],
    ["exact_reference_match=yes", { type: "boolean" }, "true"],
    ["status_version=0", { enum: [1, 2] }],
    ["display_size=-5", { minimum: 1 }],
    ["page=x", { type: "integer" }],
    ["reference=%00", { "x-excluded-characters": "NUL" }],
    ["cursor=bogus", { from: "Link" }],
    ["colour=red", { additionalProperties: false }],
  ])("%s as one fault, with the remedy if one is safe", async (query, rule, meant) => {
    const [parameter] = query.split("=");
    const { json } = await ledger.request(`/v1/transaction?account_id=57&${query}`);
    const remedy = [{ op: "replace", path: `/${parameter}`, value: meant }];
    const fault = { parameter, rule, detail: json.detail, ...(meant !== undefined && { remedy }) };
    expect(json).toMatchObject({ type: "/problems/invalid-request", message: [json.detail] });
    expect(json.errors).toEqual([fault]);
  });

  test("a page beyond the last, unless nothing matches", async () => {
    const beyond = "/v1/transaction?account_id=57&page=2";
    expect(await ledger.getError(beyond)).toEqual([404, "the requested page not found"]);
    const none = await search("account_id=none&page=2");
    expect(none).toMatchObject({ total: 0, count: 0, page: 2, results: [] });
    expect((await search("account_id=none&page=5"))._links.prev_page.href).toContain("page=1&");
  });
});

/** Follows a link, by default the header `Link`, until a page lacks it. Returns the ids of each page. */
async function follow(
  query: string,
  link?: "next_page" | "next_cursor",
  afterEachPage?: (page: number) => Promise<void>,
) {
  const pages = await ledger.pages(`/v1/transaction?${query}`, link, afterEachPage);
  expect(pages.map(({ page }) => page)).toEqual(pages.map((_, index) => index + 1));
  if (link !== "next_page") expect(new Set(pages.map(({ total }) => total)).size).toBe(1);
  return pages.map((page) => idsOf({ results: page.results }));
}

describe("pages", () => {
  test("keep every filter in their links", async () => {
    const given = new URLSearchParams(
      "account_id=57,58&from_date=2024-01-01T00:00:00%2B01:00&to_date=2025-01-01T00:00:00Z&email=an~gler 1" +
        "&reference=lic&cardholder_name=n&first_digits_card_number=424242&last_digits_card_number=4242" +
        "&payment_states=failed,success&refund_states=success&dispute_states=won&card_brands=visa,amex&card_brand=diners" +
        "&state=success&transaction_type=payment&gateway_payout_id=po1&from_settled_date=2020-01-01" +
        "&to_settled_date=2021-01-01&metadata_value=x&agreement_id=y&gateway_transaction_id=z" +
        "&exact_reference_match=true&override_account_id_restriction=true&status_version=1" +
        "&limit_total=true&limit_total_size=5001&live=false&extended=true",
    );
    const { _links: links } = await search(`${given}&page=3&display_size=7`);
    const expected = new URLSearchParams(given);
    expected.set("from_date", "2023-12-31T23:00:00.000000Z");
    expected.set("transaction_type", "PAYMENT");
    expected.set("page", "3");
    expected.set("display_size", "7");
    expect(links.self.href).toBe(`${ledger.base}/v1/transaction?${expected}`);
    expect(links.self.href).toContain(
      "account_id=57%2C58&from_date=2023-12-31T23%3A00%3A00.000000Z&to_date=2025",
    );
    expect(links.self.href).toContain("email=an%7Egler+1");
  });

  test("omit defaults from their links, and keep the path of the request", async () => {
    const query =
      "account_id=57&status_version=2&limit_total=false&exact_reference_match=false&fee_headers=true";
    const { _links } = await ledger.get(`/v1/transaction/?${query}&display_size=5`);
    const path = `${ledger.base}/v1/transaction/?account_id=57`;
    const page = (number: number) => ({ href: `${path}&page=${number}&display_size=5` });
    expect(_links).toEqual({
      self: page(1),
      first_page: page(1),
      last_page: page(3),
      next_page: page(2),
    });
  });

  test("of live transactions, or of others, have an exact total and are followed by links and cursors", async () => {
    const account = { gateway_account_id: "mixed" };
    const created = [true, false, undefined, false, true, false].map((live, n) =>
      story("payment", `mixed${n}`, [`10:0${n}`, "PAYMENT_CREATED", account, { live }]),
    );
    await ledger.store(...created);
    const path = "/v1/transaction?account_id=mixed&display_size=2";
    for (const link of [undefined, "next_page"]) {
      const pages = await ledger.pages(`${path}&live=FALSE`, link);
      expect(pages.flatMap(({ results }) => idsOf({ results }))).toEqual(["mixed5", "mixed3", "mixed1"]);
      expect(pages.map(({ total }) => total)).toEqual([3, 3]);
    }
    expect(idsOf(await search("account_id=mixed&live=1"))).toEqual(["mixed4", "mixed0"]);
    expect(idsOf(await search("account_id=mixed&live="))).toHaveLength(6);
    const query = {
      method: "QUERY",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ account_id: ["mixed"], live: true, transaction_type: "PAYMENT" }),
    };
    expect(idsOf((await ledger.request("/v1/transaction", query)).json)).toEqual(["mixed4", "mixed0"]);
    const csv = await ledger.request(
      "/v1/transaction?account_id=mixed&format=csv&live=true&columns=Transaction ID,Live",
    );
    expect(csv.text).toBe("Transaction ID,Live\nmixed4,true\nmixed0,true\n");
  });

  /** The links in the response to the bytes of a request. */
  async function linksFor(request: string): Promise<string[]> {
    const { hostname, port } = new URL(ledger.base);
    const socket = connect(Number(port), hostname);
    socket.write(request);
    return [...(await text(socket)).matchAll(/"href":"([^?"]*)/g)].map(([, href = ""]) => href);
  }

  test("link to the address of the connection if the request has no Host header", async () => {
    const links = await linksFor("GET /v1/transaction?account_id=57 HTTP/1.0\r\n\r\n");
    expect(new Set(links)).toEqual(new Set([`${ledger.base}/v1/transaction`]));
  });

  test("link to the host of an absolute request target, whatever the Host header is", async () => {
    const target = "http://ledger.test:99/v1/transaction";
    const headers = "host: other.test\r\nconnection: close";
    const links = await linksFor(`GET ${target}?account_id=57&display_size=5 HTTP/1.1\r\n${headers}\r\n\r\n`);
    expect(links).toEqual(Array(4).fill(target));
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
    for (const [query, total] of [
      ["limit_total=true&limit_total_size=4&display_size=5", 12],
      ["limit_total=true&limit_total_size=5&display_size=5", 5],
      ["limit_total_size=4&display_size=5", 12],
      // The display size is compared as it was sent, although a page has at most 500 rows.
      ["limit_total=true&limit_total_size=11&display_size=501", 12],
    ])
      expect([query, (await search(`account_id=57&${query}`)).total]).toEqual([query, total]);
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
    const { results, total } = await search(`account_id=57&${same}`);
    expect(json).toMatchObject({ results, total });
    expect(total).toBeGreaterThan(0);
    expect(text).not.toContain("card_brands=&");
  });

  test("include a transaction before a to_date that is finer than a microsecond", async () => {
    const until = async (fraction: string) =>
      idsOf(await search(`account_id=57&to_date=2024-03-05T10:01:00.000000${fraction}Z`));
    expect([await until(""), await until("000"), await until("001")]).toEqual([[], [], ["p1"]]);
  });

  test("have at most 500 rows", async () => {
    expect((await search("account_id=57&display_size=501"))._links.self.href).toContain("display_size=500");
  });

  test("by cursor continue after the previous page, keep its total, and cannot be combined with page", async () => {
    const { headers } = await ledger.request("/v1/transaction?account_id=57&display_size=5");
    const href = linkIn(headers) as string;
    expect(href).toContain("/v1/transaction?account_id=57&cursor=");
    const path = href.slice(ledger.base.length);
    const second = await ledger.get(path);
    expect(second).toMatchObject({ total: 12, count: 5, page: 2 });
    expect(Object.keys(second._links)).toEqual(["self", "first_page", "next_page", "next_cursor"]);
    expect(second._links.next_page).toEqual(second._links.next_cursor);
    expect(second._links.self.href).toBe(href);
    expect((await ledger.get(path.replace("display_size=5", "display_size=500"))).count).toBe(7);
    expect(await ledger.getError(`${path}&page=2`)).toEqual([
      400,
      "query parameters cursor and page cannot be used together",
    ]);
  });

  test("have the cursor of the next page in the body if the caller requests it", async () => {
    const query = "account_id=57&display_size=5&extended=true";
    const { json, headers } = await ledger.request(`/v1/transaction?${query}`);
    expect(json._links.next_cursor.href).toBe(linkIn(headers));
    expect(json._links.self.href).toContain("&extended=true&page=1&");
    const plain = await ledger.pages("/v1/transaction?account_id=57&display_size=5&extended=false");
    expect(plain.length).toBe(3);
    expect(plain.flatMap(({ _links }) => Object.keys(_links ?? {}))).not.toContain("next_cursor");
    expect(await follow(query, "next_cursor")).toEqual(await follow("account_id=57&display_size=5"));
  });

  test("by cursor continue after an id of control characters", async () => {
    const ids = ["a", "b", "c"].map((last) => "\u0001".repeat(254) + last);
    await ledger.store(...ids.map((id) => payment(id, "10:00", { gateway_account_id: "61" })));
    const pages = await follow("account_id=61&display_size=1");
    expect(pages.flat()).toEqual(ids.toReversed());
  });

  test("by cursor have no transaction that arrived in the meantime, whatever its date", async () => {
    const at = (id: string, time: string) => payment(id, time, { gateway_account_id: "60" });
    await ledger.store(...[1, 2, 3, 4, 5].map((index) => at(`s${index}`, `10:${index}0`)));
    const addTransactions = (page: number) =>
      ledger.store(at(`new${page}`, "10:55"), at(`late${page}`, "10:05"), at(`between${page}`, "10:25"));
    const query = "account_id=60&display_size=2";
    const pages = await follow(query, undefined, addTransactions);
    expect(pages).toEqual([["s5", "s4"], ["s3", "s2"], ["s1"]]);
    expect((await search(query)).total).toBe(14);
  });
});
