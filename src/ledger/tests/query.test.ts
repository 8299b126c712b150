import { describe, expect, test } from "vitest";
import { ledgerOfFile, payment } from "./ledger.fixture.ts";

const ledger = await ledgerOfFile();
const { get, request } = ledger;
await ledger.store(
  payment("pay1", { gateway_account_id: "57", amount: 100, reference: "A, B", card_brand: "visa" }),
  payment("pay2", { gateway_account_id: "58", amount: 200 }, ["10:01", "CAPTURE_CONFIRMED"]),
  payment("pay3", { gateway_account_id: "59", amount: 300 }),
);

const query = (body: unknown, headers: Record<string, string> = {}, path = "/v1/transaction") =>
  request(path, {
    method: "QUERY",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

describe("a search by QUERY", () => {
  test.each([
    [{ account_id: ["57", "58"] }, "account_id=57,58"],
    [{ account_id: ["57"], display_size: 1, page: 1 }, "account_id=57&display_size=1&page=1"],
    [{ account_id: ["58"], payment_states: ["success"] }, "account_id=58&payment_states=success"],
    [
      { account_id: ["58"], transaction_type: "Payment", from_date: null },
      "account_id=58&transaction_type=payment",
    ],
    [
      { override_account_id_restriction: true, reference: "a, b", exact_reference_match: true },
      "override_account_id_restriction=true&reference=a%2C%20b&exact_reference_match=true",
    ],
    [
      { account_id: ["57"], status_version: 1, email: "", reference: " ", extended: true },
      "account_id=57&status_version=1&extended=true",
    ],
  ])("with %j has the response of GET", async (body, parameters) => {
    const { status, json, headers } = await query(body);
    const { _links, ...page } = await get(`/v1/transaction?${parameters}`);
    expect([status, json]).toEqual([200, { ...page, _links: expect.any(Object) }]);
    const names = Object.values<{ href: string }>(json._links).flatMap(({ href }) => [
      ...new URL(href).searchParams.keys(),
    ]);
    expect(["page", "cursor", "display_size", "extended"]).toEqual(expect.arrayContaining(names));
    expect([headers.link, headers["cache-control"]]).toEqual([undefined, "private, no-cache"]);
  });

  test("takes a thousand accounts, which no URL can name", async () => {
    const account_id = Array.from({ length: 1000 }, (_, n) =>
      n === 999 ? "59" : `account-with-a-long-name-${n}`,
    );
    const { status, json } = await query({ account_id });
    expect([status, json.total, json.results[0].transaction_id]).toEqual([200, 1, "pay3"]);
    expect((await request(`/v1/transaction?account_id=${account_id}`)).status).toBe(431);
  });

  test("continues with the cursor of its body, and has an entity tag and CSV", async () => {
    const body = { account_id: ["57", "58", "59"], display_size: 2, extended: true };
    const first = await query(body);
    const { href } = first.json._links.next_cursor;
    const cursor = new URL(href).searchParams.get("cursor");
    const second = await query({ ...body, cursor });
    expect(second.json.results.map((one: { transaction_id: string }) => one.transaction_id)).toHaveLength(1);
    expect((await query(body, { "if-none-match": String(first.headers.etag) })).status).toBe(304);
    const csv = await query(body, { accept: "text/csv" });
    expect([csv.headers["content-type"], csv.text.split("\n")]).toEqual([
      "text/csv; charset=utf-8",
      expect.objectContaining({ length: 5 }),
    ]);
  });

  const place = (pointer: string, rule: object) => [
    expect.objectContaining({ pointer, rule: expect.objectContaining(rule) }),
  ];
  test.each<[unknown, unknown]>([
    [{ account_id: ["57"], acount: 1 }, place("/acount", { additionalProperties: false })],
    [{ account_id: [] }, place("/account_id", { minItems: 1 })],
    [{ account_id: [" "] }, place("/account_id/0", {})],
    [{ account_id: "57" }, place("/account_id", { type: "array" })],
    [{ account_id: ["57"], extended: "true" }, place("/extended", { type: "boolean" })],
    [{ account_id: ["57"], extended: [null, null] }, place("/extended", { type: "boolean" })],
    [{ account_id: ["57,58"] }, place("/account_id/0", {})],
    [{ account_id: ["57"], display_size: "many" }, place("/display_size", { type: "integer" })],
    [{ account_id: ["57"], display_size: 1.5 }, place("/display_size", { type: "integer" })],
    [{ account_id: [57] }, place("/account_id/0", { type: "string" })],
    [{ account_id: ["57"], reference: { a: 1 } }, place("/reference", { type: "string" })],
    [{ account_id: ["57"], reference: ["a"] }, place("/reference", { type: "string" })],
    [{ account_id: ["57"], card_brand: ["visa"] }, place("/card_brand", { additionalProperties: false })],
    [{ account_id: ["57"], reference: "a\u0000" }, place("/reference", {})],
    [{ account_id: ["57"], reference: "\ud800" }, place("", { charset: "utf-8" })],
    [["57"], place("", { type: "object" })],
    [null, place("", { type: "object" })],
    ['{"__proto__": {"account_id": ["57"]}}', place("/__proto__", { additionalProperties: false })],
    ["{", place("", { contentMediaType: "application/json" })],
    ["", place("", { required: true })],
    [{}, place("/account_id", { required: true })],
  ])("with the body %j is 400", async (body, errors) => {
    const { status, json } = await query(body);
    expect([status, json.errors]).toEqual([400, errors]);
  });

  test("with a remedy succeeds after it", async () => {
    const { json } = await query({ acount_id: ["57"] });
    expect(json.errors[0].remedy).toEqual([{ op: "move", from: "/acount_id", path: "/account_id" }]);
  });

  test("takes no parameters in its URL, no other media type, and no body of more than 1 MiB", async () => {
    expect((await query({ account_id: ["57"] }, {}, "/v1/transaction?page=1")).json.errors).toEqual([
      expect.objectContaining({ parameter: "page" }),
    ]);
    const form = await query("account_id=57", { "content-type": "application/x-www-form-urlencoded" });
    expect(form.status).toBe(415);
    expect((await query({ reference: "x".repeat(2 ** 20) })).status).toBe(413);
  });

  test("is announced by GET, HEAD and OPTIONS", async () => {
    const announced = { "accept-query": "application/json" };
    expect((await request("/v1/transaction?account_id=57")).headers).toMatchObject(announced);
    expect((await request("/v1/transaction?account_id=57", { method: "HEAD" })).headers).toMatchObject(
      announced,
    );
    const options = await request("/v1/transaction", { method: "OPTIONS" });
    expect(options.headers).toMatchObject({ ...announced, allow: "GET, HEAD, QUERY, OPTIONS" });
    const other = await request("/v1/payout", { method: "QUERY" });
    expect([other.status, other.headers.allow]).toEqual([405, "GET, HEAD"]);
  });
});
