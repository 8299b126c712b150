import { beforeAll, describe, expect, test } from "vitest";
import { Oracle, type Query } from "../../../simulation/ledger/oracle.ts";
import { childStory, type Step, story } from "../../../testing/messages.ts";
import { countingDatabase, ledgerOfFile, modelEvent, openApp, payment } from "./ledger.fixture.ts";

// What a transaction shows, now and as of an instant, is in `model.test.ts`.

const ledger = await ledgerOfFile();
const lookUp = (id: string, query = "account_id=57") => ledger.get(`/v1/transaction/${id}?${query}`);
const idsOf = (list: { transaction_id: string }[]) => list.map(({ transaction_id }) => transaction_id);
const day = "2024-03-05";

const inPayout = (gateway_payout_id: string): Step => [
  "12:00",
  "PAYMENT_INCLUDED_IN_PAYOUT",
  { gateway_payout_id },
];
const paid = (id: string) =>
  story("payout", id, ["13:00", "PAYOUT_PAID", { paid_out_date: `${day}T13:00:00Z` }]);

test("a payment is not settled before its payout", async () => {
  await ledger.store(payment("settled", {}, inPayout("po47")), paid("po47"));
  const asOf = (time: string) => lookUp("settled", `account_id=57&as_of=${day}T${time}Z`);
  const { gateway_payout_id, settlement_summary } = await asOf("12:30");
  expect(gateway_payout_id).toBe("po47");
  expect(settlement_summary).not.toHaveProperty("settled_date");
  expect(await asOf("13:00")).toMatchObject({ settlement_summary: { settled_date: day } });
});

test("an event that arrives late changes the past that it belongs to, and the reports of its day and hour", async () => {
  const created = payment("late", { gateway_account_id: "late" }).map((one) => ({ ...one, live: true }));
  const started = { ...created[0], event_type: "PAYMENT_STARTED", timestamp: `${day}T10:15:00Z` };
  const earlier = { ...created[0], resource_external_id: "late-2", timestamp: `${day}T08:00:00Z` };
  const report = `account_id=late&from_date=${day}T00:00:00Z&to_date=${day}T11:00:00Z`;
  const shown = async () => ({
    status: (await lookUp("late", `account_id=late&as_of=${day}T10:30:00Z`)).state.status,
    ofDay: (await ledger.get(`/v1/report/transactions?${report}`)).groups[0].count,
    hours: (
      await ledger.get(`/v1/report/transactions-by-hour?from_date=${day}T00:00:00Z&to_date=${day}T11:00:00Z`)
    ).map(({ timestamp }: { timestamp: string }) => timestamp),
  });
  await ledger.store(created);
  const before = await shown();
  expect(before).toMatchObject({ status: "created", ofDay: 1 });
  await ledger.send(started);
  await ledger.store([earlier]);
  await ledger.until("/v1/transaction/late?account_id=late", { state: { status: "started" } });
  const after = await shown();
  expect(after).toMatchObject({ status: "started", ofDay: 2 });
  expect(after.hours).toEqual([`${day}T08:00:00.000000Z`, ...before.hours]);
});

test("a payout is rebuilt by a message with reproject_domain_object, which is not stored", async () => {
  await ledger.store(payment("rebuilt", {}, inPayout("po-rebuilt")), paid("po-rebuilt"));
  await ledger.database.run("update payout set paid_out_date = null where gateway_payout_id = 'po-rebuilt'");
  const [message] = story("payout", "po-rebuilt", ["09:00", "ANY"]);
  await ledger.send({ ...message, reproject_domain_object: true });
  await ledger.until("/v1/transaction/rebuilt?account_id=57", { settlement_summary: { settled_date: day } });
  expect(await ledger.database.query("select from event where event_type = 'ANY'")).toEqual([]);
});

describe("long lists of events and children", () => {
  const types = ["PAYMENT_STARTED", "DETAILS_A", "CANCELLED_BY_USER", "DETAILS_B", "AUTHORISATION_SUCCEEDED"];
  /** Fifteen events of the payment and its refunds have the same timestamp. */
  const timeOf = (index: number) => `11:00:${String(Math.floor(index / 10)).padStart(2, "0")}`;
  const steps = Array.from(
    { length: 100 },
    (_, index): Step => [timeOf(2 * index), (index && types[index % 5]) || "PAYMENT_CREATED"],
  );
  const stories = [
    story("payment", "long", ...steps),
    ...Array.from({ length: 210 }, (_, index) =>
      childStory("refund", `long-refund${index}`, "long", [timeOf(index), "REFUND_SUBMITTED"]),
    ),
  ];
  const oracle = new Oracle(stories.flat().map(modelEvent));
  beforeAll(() => ledger.store(...stories));

  test.each<[asOf: string, query: Query, pages: number]>([
    ["now", { include_all_events: "true" }, 2],
    ["now, those that changed the state", {}, 2],
    [`${day}T11:00:15Z`, { include_all_events: "true", as_of: `${day}T11:00:15.000000Z` }, 2],
  ])("events are paged, each once and in order, as of %s", async (_asOf, query, count) => {
    const path = `/v1/transaction/long/event?${new URLSearchParams({ gateway_account_id: "57", ...query })}`;
    const pages = await ledger.pages(path);
    expect(pages).toHaveLength(count);
    const events = pages.flatMap((page) => page.events).map(({ event_id, ...event }) => event);
    expect({ transaction_id: "long", events }).toEqual(oracle.eventList("long", "57", query));
  });

  test("children are paged, each once and in order", async () => {
    const pages = await ledger.pages("/v1/transaction/long/transaction?gateway_account_id=57");
    expect(pages.map(({ transactions }) => transactions.length)).toEqual([200, 10]);
    const { transactions } = oracle.children("long", "57") as { transactions: { transaction_id: string }[] };
    expect(idsOf(pages.flatMap((page) => page.transactions))).toEqual(idsOf(transactions));
  });

  test("a page of large events, children or transactions ends at its limit of bytes", async () => {
    const ofAccount = { gateway_account_id: "heavy", note: "x".repeat(900_000) };
    await ledger.store(
      payment("heavy", ofAccount),
      ...["1", "2", "3", "4"].map((index) =>
        childStory("refund", `heavy${index}`, "heavy", [`10:1${index}`, "REFUND_SUBMITTED", ofAccount]),
      ),
    );
    const query = "gateway_account_id=heavy";
    const events = await ledger.pages(
      `/v1/transaction/heavy/event?${query}&include_all_events=true&extended=true`,
    );
    expect(events.map((page) => page.events.length)).toEqual([3, 2]);
    const children = await ledger.pages(`/v1/transaction/heavy/transaction?${query}`);
    expect(children.map((page) => page.transactions.length)).toEqual([3, 1]);
    const found = await ledger.pages("/v1/transaction?account_id=heavy");
    expect(found.map((page) => [page.results.length, page.count, page.total])).toEqual([
      [3, 3, 5],
      [2, 2, 5],
    ]);
    const { json } = await ledger.request("/v1/transaction?account_id=heavy");
    expect(json._links.next_page.href).toContain("&cursor=");
    expect((await ledger.request("/v1/transaction/heavy1?account_id=heavy")).json).toMatchObject({
      transaction_id: "heavy1",
    });
    const [id] = events.flatMap((page) => page.events).map(({ event_id }) => event_id);
    expect((await ledger.request(`/v1/event/${id}`)).json.event_details.note).toHaveLength(900_000);
  });
});

describe("as of an instant, an account sees only what belonged to it then and belongs to it now:", () => {
  const toAccount = (gateway_account_id: string): Step => ["12:00", "DETAILS", { gateway_account_id }];
  const of58 = { gateway_account_id: "58" };
  const child = (id: string, parent: string, details: object, ...steps: Step[]) =>
    childStory("refund", id, parent, ["10:30", "REFUND_SUBMITTED", { amount: 1, ...details }], ...steps);
  beforeAll(() =>
    ledger.store(
      payment("stays", { reference: "of 57" }),
      child("stays' own", "stays", {}),
      child("goes", "stays", {}, toAccount("58")),
      child("comes", "stays", of58, toAccount("57")),
      childStory("dispute", "of another", "stays", ["10:40", "DISPUTE_CREATED", of58]),
      payment("handed over", { reference: "of 57" }, toAccount("58")),
      child("remains", "handed over", { reference: "own" }),
      child("follows", "handed over", { reference: "own" }, toAccount("58")),
    ),
  );

  /** The instants before and after the hand-over. */
  const [before, after] = [`${day}T11:00:00Z`, `${day}T13:00:00Z`];
  test.each<[account: string, asOf: string, visible: string[]]>([
    ["57", before, ["stays", "stays' own", "remains"]],
    ["57", after, ["stays", "stays' own", "comes", "remains"]],
    ["58", before, ["of another"]],
    ["58", after, ["goes", "of another", "handed over", "follows"]],
  ])("account %s as of %s", async (account, asOf, visible) => {
    const ids = ["stays", "stays' own", "goes", "comes", "of another", "handed over", "remains", "follows"];
    for (const id of ids) {
      const expected = [id, visible.includes(id) ? 200 : 404];
      const path = `/v1/transaction/${id}`;
      const lookup = await ledger.request(`${path}?account_id=${account}&as_of=${asOf}`);
      expect([id, lookup.status]).toEqual(expected);
      const list = await ledger.request(`${path}/event?gateway_account_id=${account}&as_of=${asOf}`);
      expect([id, list.status]).toEqual(expected);
      const all = await ledger.get(`${path}?override_account_id_restriction=true&as_of=${asOf}`);
      expect(all.transaction_id).toBe(id);
    }
  });

  test.each([
    ["57", "stays", `&as_of=${before}`, ["stays", "stays' own"]],
    ["57", "stays", `&as_of=${after}`, ["stays", "stays' own", "comes"]],
    ["57", "stays", "", ["stays", "stays' own", "comes"]],
    ["58", "handed over", `&as_of=${after}`, ["handed over", "follows"]],
    ["58", "handed over", "", ["handed over", "follows"]],
  ])("the events of account %s of the payment %j%s", async (account, id, asOf, families) => {
    const query = `gateway_account_id=${account}&include_all_events=true&extended=true${asOf}`;
    const { events } = await ledger.get(`/v1/transaction/${id}/event?${query}`);
    const ids = await Promise.all(
      events.map(
        async ({ event_id }: { event_id: number }) =>
          (await ledger.get(`/v1/event/${event_id}`)).resource_external_id,
      ),
    );
    expect([...new Set(ids)].sort()).toEqual(families.toSorted());
  });

  test.each([
    ["remains", "account_id=57", before, "own"],
    ["remains", "override_account_id_restriction=true", before, "of 57"],
    ["remains", "account_id=57", after, "own"],
    ["follows", "account_id=58", after, "of 57"],
  ])("the refund %s with %s as of %s shows the reference %j", async (id, query, asOf, reference) => {
    expect((await lookUp(id, `${query}&as_of=${asOf}`)).payment_details).toMatchObject({ reference });
  });
});

test("a payment of another account is rejected before its history is read", async () => {
  const steps = Array.from({ length: 200 }, (_, n): Step => ["10:01", `DETAILS_${n}`]);
  await ledger.store(payment("busy", {}, ...steps));
  const { counts, database } = countingDatabase(ledger.database);
  await using api = await openApp({ database });
  const rowsOf = async (path: string, status: number) => {
    counts.rows = 0;
    expect((await api.app.inject(`${path}&as_of=2024-03-06T00:00:00Z`)).statusCode).toBe(status);
    return counts.rows;
  };
  for (const list of ["busy?account_id=", "busy/event?gateway_account_id="]) {
    expect(await rowsOf(`/v1/transaction/${list}57`, 200)).toBeGreaterThan(200);
    expect(await rowsOf(`/v1/transaction/${list}58`, 404)).toBeLessThan(3);
  }
});

describe("a child of a payment of another account", () => {
  beforeAll(() =>
    ledger.store(
      payment("theirs", { reference: "secret", email: "secret@example.org", cardholder_name: "Secret" }),
      childStory("refund", "ours", "theirs", [
        "11:00",
        "REFUND_SUBMITTED",
        { gateway_account_id: "58", amount: 1, reference: "own" },
      ]),
      childStory("dispute", "nobody's", "theirs", ["11:30", "DISPUTE_CREATED", { gateway_account_id: null }]),
      // A later event of the payment updates its children.
      story("payment", "theirs", ["12:00", "CAPTURE_CONFIRMED", { description: "secret" }]),
    ),
  );

  test.each([
    "/v1/transaction/ours?account_id=58",
    "/v1/transaction/ours?account_id=58&as_of=2024-03-05T13:00:00Z",
    "/v1/transaction/nobody's?override_account_id_restriction=true",
    "/v1/transaction/nobody's?override_account_id_restriction=true&as_of=2024-03-05T13:00:00Z",
    "/v1/transaction?account_id=58",
    "/v1/transaction/ours/event?gateway_account_id=58",
    "/v1/transaction/ours/event?gateway_account_id=58&as_of=2024-03-05T13:00:00Z",
  ])("shows no details of the payment at %s", async (path) => {
    for (const accept of ["application/json", "text/csv"]) {
      const { status, text } = await ledger.request(path, { headers: { accept } });
      expect([status, text.toLowerCase().includes("secret")]).toEqual([200, false]);
    }
  });

  test.each(["reference=secret", "email=secret", "cardholder_name=secret"])(
    "is not found by the details of the payment: %s",
    async (filter) => {
      const { results } = await ledger.get(`/v1/transaction?account_id=57,58&${filter}`);
      expect(idsOf(results)).toEqual(["theirs"]);
    },
  );
});

describe("a lookup by the provider's transaction id", () => {
  const stripe = (gateway_transaction_id: string) => ({ gateway_transaction_id, payment_provider: "stripe" });
  beforeAll(() =>
    ledger.store(
      payment("g1", stripe("gtx7")),
      story("payment", "g2", ["11:00", "PAYMENT_CREATED", { ...stripe("gtx7"), gateway_account_id: "58" }]),
      payment("g3", { gateway_transaction_id: "gtx7", payment_provider: "sandbox" }),
      story("payment", "g5", ["12:00", "AUTHORISATION_REJECTED", stripe("gtx9")]),
      childStory("refund", "g4", "g1", ["13:00", "REFUND_SUBMITTED", stripe("gtx8")]),
    ),
  );

  test.each([
    ["gateway_transaction_id=gtx7&payment_provider=Stripe", 200, "g2", "created"],
    ["gateway_transaction_id=gtx7&payment_provider=sandbox", 200, "g3", "created"],
    ["gateway_transaction_id=gtx9&payment_provider=stripe", 200, "g5", "declined"],
    ["gateway_transaction_id=gtx7&payment_provider=other", 404],
    ["gateway_transaction_id=gtx8&payment_provider=stripe", 404],
    ["gateway_transaction_id=gtx7", 400],
    ["gateway_transaction_id=&payment_provider=stripe", 400],
  ])("%s returns %i %s %s", async (query, status, id?: string, state?: string) => {
    const response = await ledger.request(`/v1/transaction/gateway-transaction?${query}`);
    const { transaction_id, state: shown } = response.json;
    expect([response.status, transaction_id, shown?.status]).toEqual([status, id, state]);
  });
});
