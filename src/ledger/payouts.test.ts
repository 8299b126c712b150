import { describe, expect, test } from "vitest";
import { childStory, type Step, story } from "../../testing/messages.ts";
import { ledgerOfFile } from "./ledger.fixture.ts";

const payout = (id: string, time: string, details: object, ...steps: Step[]) =>
  story("payout", id, [time, "PAYOUT_CREATED", details], ...steps);
const settled = (id: string, amounts: object, payoutId: string, state = "CAPTURE_CONFIRMED") =>
  story(
    "payment",
    id,
    ["09:00", "PAYMENT_CREATED", amounts],
    ["09:05", state],
    ["23:00", "PAYMENT_INCLUDED_IN_PAYOUT", { gateway_payout_id: payoutId }],
  );

const stories = [
  payout("po1", "10:01", { amount: 4190 - 1000 - 2500 }, [
    "11:00",
    "PAYOUT_PAID",
    { paid_out_date: "2024-03-08T06:00:00.123456Z" },
  ]),
  settled("p1", { amount: 4250, fee: 60, net_amount: 4190 }, "po1"),
  childStory("refund", "r1", "p1", [
    "09:00",
    "REFUND_CREATED_BY_USER",
    { amount: 1000, gateway_payout_id: "po1" },
  ]),
  childStory("dispute", "d1", "p1", [
    "09:00",
    "DISPUTE_LOST",
    { amount: 1000, net_amount: -2500, fee: 1500, gateway_payout_id: "po1" },
  ]),
  payout("po2", "10:02", { amount: "700" }, ["11:00", "PAYOUT_FAILED"]),
  settled("p2", { amount: 500, total_amount: 550 }, "po2"),
  settled("p3", { amount: 300 }, "po2", "CAPTURE_ERRORED"),
  payout("po3", "10:03", { gateway_account_id: "58" }),
  // It names the payout of another account.
  settled("p4", { amount: 1 }, "po3"),
  story("payout", "po4", ["10:03", "PAYOUT_UPDATED"]),
  ...Array.from({ length: 7 }, (_, n) =>
    payout(`many${n}`, `12:0${n}`, { gateway_account_id: "many", amount: n }),
  ),
];

const ledger = await ledgerOfFile();
await ledger.store(...stories);
const { get, getError } = ledger;
const idsOf = ({ results }: { results: { gateway_payout_id: string }[] }) =>
  results.map(({ gateway_payout_id }) => gateway_payout_id);

describe("the search of payouts", () => {
  test("has the payouts of accounts, newest first", async () => {
    const found = await get("/v1/payout?gateway_account_id=57");
    expect(idsOf(found)).toEqual(["po4", "po2", "po1"]);
    expect(found).toMatchObject({ total: 3, count: 3, page: 1 });
    expect(found.results[2]).toEqual({
      gateway_payout_id: "po1",
      gateway_account_id: "57",
      service_id: null,
      amount: 690,
      state: { status: "paidout", finished: true },
      live: null,
      created_date: "2024-03-05T10:01:00.000Z",
      paid_out_date: "2024-03-08T06:00:00.123Z",
    });
    expect(found.results[0]).toMatchObject({
      amount: 0,
      paid_out_date: null,
      state: { status: "undefined", finished: false },
    });
    expect(found.results[1]).toMatchObject({ amount: 700, state: { status: "failed", finished: true } });
    expect(idsOf(await get("/v1/payout/?gateway_account_id=57,58"))).toEqual(["po4", "po3", "po2", "po1"]);
    expect((await get("/v1/payout?override_account_id_restriction=true")).total).toBe(11);
    expect(await get("/v1/payout?gateway_account_id=none")).toMatchObject({ total: 0, results: [] });
  });

  test.each([
    ["intransit", ["po3"]],
    ["paidout", ["po1"]],
    ["failed", ["po2"]],
    ["undefined", ["po4"]],
  ])("finds those that are %s", async (state, ids) => {
    expect(idsOf(await get(`/v1/payout?gateway_account_id=57,58&state=${state}`))).toEqual(ids);
  });

  test("has pages, and links that keep every filter", async () => {
    const path = "/v1/payout?gateway_account_id=many&state=intransit";
    const second = await get(`${path}&page=2&display_size=3`);
    expect(idsOf(second)).toEqual(["many3", "many2", "many1"]);
    const href = (page: number) => ({ href: `${ledger.base}${path}&page=${page}&display_size=3` });
    expect(second._links).toEqual({
      self: href(2),
      first_page: href(1),
      last_page: href(3),
      prev_page: href(1),
      next_page: href(3),
    });
    const last = await get(second._links.next_page.href.slice(ledger.base.length));
    expect(idsOf(last)).toEqual(["many0"]);
    expect(last._links).not.toHaveProperty("next_page");
    expect(await getError(`${path}&page=4&display_size=3`)).toEqual([404, "the requested page not found"]);
    const everything = await get("/v1/payout?override_account_id_restriction=true&display_size=1000");
    expect(everything._links.self.href).toContain(
      "override_account_id_restriction=true&page=1&display_size=500",
    );
  });

  test.each([
    ["", "Field [gateway_account_id] cannot be empty"],
    ["gateway_account_id=", "Field [gateway_account_id] cannot be empty"],
    ["gateway_account_id=57&state=paid", "state"],
    ["gateway_account_id=57&page=0", "page"],
    ["gateway_account_id=57&display_size=-1", "display_size"],
    ["gateway_account_id=57&account_id=57", "account_id"],
  ])("refuses %j", async (query, message) => {
    expect(await getError(`/v1/payout?${query}`)).toEqual([400, expect.stringContaining(message)]);
  });
});

describe("a payout", () => {
  test("shows what it settles, and that it adds up", async () => {
    expect(await get("/v1/payout/po1?gateway_account_id=57")).toMatchObject({
      gateway_payout_id: "po1",
      amount: 690,
      settled: [
        { transaction_type: "PAYMENT", count: 1, amount: 4250, fee: 60, settled_amount: 4190 },
        { transaction_type: "REFUND", count: 1, amount: 1000, fee: 0, settled_amount: -1000 },
        { transaction_type: "DISPUTE", count: 1, amount: 1000, fee: 1500, settled_amount: -2500 },
      ],
      settled_amount: 690,
      difference: 0,
    });
  });

  test("shows the difference if it does not add up; a failed payment adds nothing", async () => {
    expect(await get("/v1/payout/po2?override_account_id_restriction=true")).toMatchObject({
      amount: 700,
      settled: [{ count: 2, amount: 800, settled_amount: 550 }, { count: 0 }, { count: 0 }],
      settled_amount: 550,
      difference: 150,
    });
  });

  test("settles only transactions of its own account, and may settle none", async () => {
    expect(await get("/v1/payout/po3?gateway_account_id=58")).toMatchObject({
      settled: [{ count: 0 }, { count: 0 }, { count: 0 }],
      settled_amount: 0,
      difference: 0,
    });
  });

  test("of another account, or without events, is not found", async () => {
    const notFound = (id: string) => [404, `Payout with id [${id}] not found`];
    expect(await getError("/v1/payout/po3?gateway_account_id=57")).toEqual(notFound("po3"));
    expect(await getError("/v1/payout/none?override_account_id_restriction=true")).toEqual(notFound("none"));
    expect(await getError("/v1/payout/po1")).toEqual([400, "Field [gateway_account_id] cannot be empty"]);
  });
});
