import { expect, test } from "vitest";
import { childStory, story } from "../../../testing/messages.ts";
import { ledgerOfFile, payment } from "./ledger.fixture.ts";

// What payouts show and how they are found, whatever their events, is in `model.test.ts`.

const inPayout = { gateway_payout_id: "po1" };
const ledger = await ledgerOfFile();
await ledger.store(
  story("payout", "po1", ["10:01", "PAYOUT_CREATED", { amount: 700 }]),
  payment("p1", { amount: 4250, fee: 60, net_amount: 4190, ...inPayout }, ["11:00", "CAPTURE_CONFIRMED"]),
  payment("p2", { amount: 300, ...inPayout }, ["11:00", "CAPTURE_ERRORED"]),
  payment("p3", { amount: 1, gateway_account_id: "58", ...inPayout }),
  childStory("refund", "r1", "p1", ["12:00", "REFUND_CREATED_BY_USER", { amount: 1000, ...inPayout }]),
  childStory("dispute", "d1", "p1", [
    "13:00",
    "DISPUTE_LOST",
    { amount: 1000, net_amount: -2500, fee: 1500, ...inPayout },
  ]),
  ...Array.from({ length: 7 }, (_, n) =>
    story("payout", `many${n}`, [`12:0${n}`, "PAYOUT_CREATED", { gateway_account_id: "many" }]),
  ),
);
const { get, getError } = ledger;
const idsOf = ({ results }: { results: { gateway_payout_id: string }[] }) =>
  results.map(({ gateway_payout_id }) => gateway_payout_id);

test("payouts have pages, and links that keep every filter", async () => {
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
  const everything = await get("/v1/payout/?override_account_id_restriction=true&display_size=1000");
  expect(everything._links.self.href).toContain(
    "override_account_id_restriction=true&page=1&display_size=500",
  );
});

test("payouts are found by their dates and by whether they are live, and links keep the filters", async () => {
  const live = { gateway_account_id: "dated" };
  await ledger.store(
    ...[true, false, undefined].map((isLive, n) =>
      story("payout", `dated${n}`, [`14:0${n}`, "PAYOUT_CREATED", live, { live: isLive }]),
    ),
  );
  const found = async (query: string) => idsOf(await get(`/v1/payout?gateway_account_id=dated&${query}`));
  expect(await found("live=true")).toEqual(["dated0"]);
  expect(await found("live=0")).toEqual(["dated1"]);
  expect(await found("live=")).toEqual(["dated2", "dated1", "dated0"]);
  expect(await found("from_date=2024-03-05T14:00:00Z")).toEqual(["dated2", "dated1"]);
  expect(await found("to_date=2024-03-05T14:01:00Z")).toEqual(["dated0"]);
  const path = "/v1/payout?gateway_account_id=dated&override_account_id_restriction=true";
  const filters =
    "from_date=2024-03-05T14:00:30.000000Z&to_date=2024-03-05T14:05:00Z&live=false&extended=true";
  const { results, _links } = await get(`${path}&${filters.replace("30.000000Z", "30Z")}&display_size=500`);
  expect(results).toMatchObject([{ gateway_payout_id: "dated1", settled_amount: 0, difference: 0 }]);
  const self = `${ledger.base}${path}&${filters}&page=1&display_size=100`;
  expect(decodeURIComponent(_links.self.href)).toBe(self.replace("05:00Z", "05:00.000000Z"));
});

test("an extended list shows of each payout what a lookup shows", async () => {
  const { results } = await get("/v1/payout?gateway_account_id=57,many&extended=true");
  expect(results.length).toBeGreaterThan(7);
  const each = idsOf({ results }).map((id) => get(`/v1/payout/${id}?override_account_id_restriction=true`));
  expect(results).toEqual(await Promise.all(each));
  const [plain] = (await get("/v1/payout?gateway_account_id=57")).results;
  expect(Object.keys(plain)).not.toContain("settled");
});

test("a payout shows what it settles in its account, and the difference; a failed payment adds nothing", async () => {
  expect(await get("/v1/payout/po1?gateway_account_id=57")).toMatchObject({
    gateway_payout_id: "po1",
    amount: 700,
    settled: [
      { transaction_type: "PAYMENT", count: 2, amount: 4550, fee: 60, settled_amount: 4190 },
      { transaction_type: "REFUND", count: 1, amount: 1000, fee: 0, settled_amount: -1000 },
      { transaction_type: "DISPUTE", count: 1, amount: 1000, fee: 1500, settled_amount: -2500 },
    ],
    settled_amount: 690,
    difference: 10,
  });
});

test("as of a position, a payout settles what it settled then, also what another payout settles now", async () => {
  const payout = (id: string) => story("payout", id, ["10:00", "PAYOUT_CREATED", { amount: 300 }]);
  const moved = payment(
    "moved",
    { amount: 300 },
    ["11:00", "CAPTURE_CONFIRMED"],
    ["12:00", "PAYMENT_INCLUDED_IN_PAYOUT", { gateway_payout_id: "old" }],
    ["13:00", "PAYMENT_INCLUDED_IN_PAYOUT", { gateway_payout_id: "new" }],
  );
  await ledger.store(payout("old"), payout("new"), moved.slice(0, 3));
  const path = "/v1/payout/old?gateway_account_id=57";
  const before = await ledger.request(path);
  expect(before.json.settled_amount).toBe(300);
  await ledger.send(...moved.slice(3));
  await ledger.until("/v1/payout/new?gateway_account_id=57", { settled_amount: 300 });
  const position = before.headers["ledger-position"];
  expect(await get(`${path}&known_at=${position}`)).toEqual(before.json);
  const list = await get(`/v1/payout?gateway_account_id=57&extended=true&known_at=${position}`);
  expect(list.results).toMatchObject([
    { gateway_payout_id: "po1" },
    { gateway_payout_id: "old", settled: before.json.settled },
    { gateway_payout_id: "new", settled_amount: 0 },
  ]);
});

const noAccount = "Field [gateway_account_id] cannot be empty";
test.each([
  ["", 400, noAccount],
  ["?gateway_account_id=", 400, noAccount],
  ["?gateway_account_id=57&state=paid", 400, "state"],
  ["?gateway_account_id=57&page=0", 400, "page"],
  ["?gateway_account_id=57&live=maybe", 400, "live must be true or false"],
  ["?gateway_account_id=57&extended=yes", 400, "extended must be true or false"],
  ["?gateway_account_id=57&from_date=2024-03-05", 400, "from_date must be"],
  ["?gateway_account_id=57&display_size=-1", 400, "display_size"],
  ["?gateway_account_id=57&account_id=57", 400, "account_id"],
  ["/po1", 400, noAccount],
  ["/po1?gateway_account_id=58", 404, "Payout with id [po1] not found"],
  ["/none?override_account_id_restriction=true", 404, "Payout with id [none] not found"],
])("the path %j of payouts is refused", async (path, status, message) => {
  expect(await getError(`/v1/payout${path}`)).toEqual([status, expect.stringContaining(message)]);
});
