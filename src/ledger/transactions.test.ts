import { beforeAll, describe, expect, test } from "vitest";
import { childStory, type Step, story } from "../../testing/messages.ts";
import { countingDatabase, ledgerOfFile, openApp, payment } from "./ledger.fixture.ts";

const ledger = await ledgerOfFile();
const lookUp = (id: string, query = "account_id=57") => ledger.get(`/v1/transaction/${id}?${query}`);
const idsOf = (list: { transaction_id: string }[]) => list.map(({ transaction_id }) => transaction_id);
const typesOf = (list: { event_type: string }[]) => list.map(({ event_type }) => event_type);
const day = "2024-03-05";

describe("a payment shows", () => {
  /** The details of events: name and value, the member that shows each unless it has the same name, and what it shows. */
  const members: [detail: string, value: unknown, member?: string, shown?: unknown][] = [
    ["gateway_account_id", "57"],
    ["credential_external_id", "cred1"],
    ["amount", 4250],
    ["total_amount", 4500],
    ["corporate_surcharge", 250, "corporate_card_surcharge"],
    ["fee", 60],
    ["net_amount", 4440],
    ["description", "Fishing licence"],
    ["reference", "LIC-88"],
    ["language", "en"],
    ["return_url", "https://licences.example/done"],
    ["email", "angler@example.org"],
    ["payment_provider", "sandbox"],
    ["cardholder_name", "A Angler", "card_details.cardholder_name"],
    ["address_line1", "1 Pier", "card_details.billing_address.line1"],
    ["address_postcode", "N1", "card_details.billing_address.postcode"],
    ["address_city", "Northtown", "card_details.billing_address.city"],
    ["address_country", "GB", "card_details.billing_address.country"],
    ["card_brand_label", "Visa", "card_details.card_brand"],
    ["last_digits_card_number", "4242", "card_details.last_digits_card_number"],
    ["first_digits_card_number", "424242", "card_details.first_digits_card_number"],
    ["expiry_date", "11/29", "card_details.expiry_date"],
    ["card_type", "DEBIT", "card_details.card_type", "debit"],
    ["exemption_3ds_requested", "CORPORATE", "exemption.type", "corporate"],
    ["exemption3ds", "EXEMPTION_REJECTED", "exemption.outcome.result", "rejected"],
    ["delayed_capture", true],
    ["gateway_transaction_id", "gtx1"],
    ["refund_status", "available", "refund_summary.status"],
    ["refund_amount_available", 4500, "refund_summary.amount_available"],
    ["refund_amount_refunded", 7, "refund_summary.amount_refunded"],
    [
      "capture_submitted_date",
      `${day}T09:16:00.123456Z`,
      "settlement_summary.capture_submit_time",
      `${day}T09:16:00.123Z`,
    ],
    ["captured_date", "2024-03-06T00:40:00.000000+01:00", "settlement_summary.captured_date", "2024-03-06"],
    ["requires_3ds", true, "authorisation_summary.three_d_secure.required"],
    ["version_3ds", "2.1.0", "authorisation_summary.three_d_secure.version"],
    ["external_metadata", { branch: "North" }, "metadata.branch", "North"],
    ["moto", false],
    ["source", "CARD_API"],
    ["wallet", "APPLE_PAY", "wallet_type"],
    ["gateway_payout_id", "po44"],
    ["authorisation_mode", "moto_api"],
    ["agreement_id", "agr1"],
    ["agreement_payment_type", "recurring"],
    ["disputed", true],
  ];
  /** The values in an object by their paths. */
  const valuesIn = (value: unknown, path = ""): [string, unknown][] =>
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([name, inner]) => valuesIn(inner, (path && `${path}.${name}`) || name))
      : [[path, value]];

  test("everything that its events contain, under the names of the contract", async () => {
    const details = Object.fromEntries(members);
    await ledger.store(
      story(
        "payment",
        "complete",
        ["09:14:22.018408", "PAYMENT_CREATED", details, { service_id: "svc91b27", live: true }],
        ["23:40:00", "CAPTURE_CONFIRMED"],
      ),
      story("payout", "po44", ["11:00", "PAYOUT_PAID", { paid_out_date: "2024-03-11T00:00:00.000001Z" }]),
    );
    const shown = members.map(([detail, value, member = detail, shown = value]) => [member, shown]);
    expect(Object.fromEntries(valuesIn(await lookUp("complete")))).toEqual({
      ...Object.fromEntries(shown),
      transaction_id: "complete",
      transaction_type: "PAYMENT",
      service_id: "svc91b27",
      live: true,
      created_date: `${day}T09:14:22.018Z`,
      "state.status": "success",
      "state.finished": true,
      "exemption.requested": true,
      "refund_summary.user_external_id": null,
      "refund_summary.amount_submitted": 7,
      "settlement_summary.settled_date": "2024-03-11",
    });
  });

  const cases: [title: string, details: object, shown: object, eventType?: string][] = [
    [
      "that it cannot be retried",
      { can_retry: false, authorisation_mode: "agreement" },
      {
        authorisation_mode: "agreement",
        state: {
          status: "declined",
          finished: true,
          code: "P0010",
          message: "Payment method rejected",
          can_retry: false,
        },
      },
      "AUTHORISATION_REJECTED",
    ],
    ["moto", { moto: true }, { moto: true }],
    [
      "the refundable amount, and null for unknown members of the summary",
      { refund_amount_available: 200 },
      {
        refund_summary: {
          status: null,
          user_external_id: null,
          amount_available: 200,
          amount_submitted: null,
          amount_refunded: null,
        },
      },
    ],
    [
      "that the provider ePDQ has no refunds",
      { payment_provider: "ePDQ", refund_status: "available" },
      { refund_summary: { status: "unavailable" } },
    ],
    [
      "that the provider Smartpay has no refunds",
      { payment_provider: "smartpay", refund_amount_available: "100" },
      { refund_summary: { status: "unavailable", amount_available: 100 } },
    ],
    ["a credit card", { card_type: "CREDIT" }, { card_details: { card_brand: "", card_type: "credit" } }],
    [
      "a card of which only the last digits are known",
      { last_digits_card_number: 42 },
      { card_details: { card_brand: "", last_digits_card_number: "42" } },
    ],
    [
      "null for invalid dates",
      { captured_date: 5, capture_submitted_date: "soon" },
      { settlement_summary: { capture_submit_time: null, captured_date: null } },
    ],
    [
      "the version of 3-D Secure",
      { version_3ds: "2.2.0" },
      { authorisation_summary: { three_d_secure: { required: false, version: "2.2.0" } } },
    ],
  ];
  const exemptions: [result?: string, requested?: string, shown?: object][] = [
    [],
    [undefined, "OPTIMISED", { requested: true }],
    [undefined, "CORPORATE", { requested: true, type: "corporate" }],
    ["NOT_REQUESTED", undefined, { requested: false }],
    ["NOT_REQUESTED", "CORPORATE", { requested: false }],
    ["HONOURED", undefined, { requested: true, outcome: { result: "honoured" } }],
    ["HONOURED", "CORPORATE", { requested: true, type: "corporate", outcome: { result: "honoured" } }],
    ["REJECTED", "OPTIMISED", { requested: true, outcome: { result: "rejected" } }],
    ["OUT_OF_SCOPE", undefined, { requested: true, outcome: { result: "out of scope" } }],
  ];
  beforeAll(() =>
    ledger.store(
      ...cases.map(([title, details, _shown, eventType = "PAYMENT_CREATED"]) =>
        story("payment", title, ["10:00", eventType, details]),
      ),
      ...exemptions.map(([result, exemption_3ds_requested], index) => {
        const exemption3ds = result && `EXEMPTION_${result}`;
        return payment(`exemption${index}`, { exemption3ds, exemption_3ds_requested });
      }),
    ),
  );

  test.each(cases)("%s", async (title, _details, shown) => {
    expect(await lookUp(encodeURIComponent(title))).toMatchObject(shown);
  });

  test.each(exemptions.keys().toArray())("its exemption: case %i", async (index) => {
    expect((await lookUp(`exemption${index}`)).exemption).toEqual(exemptions[index]?.[2]);
  });
});

describe("a status has two versions", () => {
  const cases: [eventType: string, first: string, second: string, code: string][] = [
    ["AUTHORISATION_REJECTED", "failed", "declined", "P0010"],
    ["PAYMENT_EXPIRED", "failed", "timedout", "P0020"],
    ["CANCELLED_BY_USER", "failed", "cancelled", "P0030"],
    ["CANCELLED_BY_EXTERNAL_SERVICE", "cancelled", "cancelled", "P0040"],
    ["CAPTURE_ERRORED", "error", "error", "P0050"],
  ];
  beforeAll(() => ledger.store(...cases.map(([type]) => story("payment", type, ["10:00", type]))));

  test.each(cases)("after %s it is %s in version 1 and %s in version 2", async (id, first, second, code) => {
    const state = async (query: string) => (await lookUp(id, `account_id=57${query}`)).state;
    expect(await state("&status_version=1")).toMatchObject({ status: first, finished: true, code });
    expect(await state("&status_version=2")).toMatchObject({ status: second, finished: true, code });
    expect(await state("")).toMatchObject({ status: second });
    const path = `/v1/transaction/${id}/event?gateway_account_id=57&status_version=1`;
    expect((await ledger.get(path)).events[0].state.status).toBe(first);
  });

  test("another version is rejected", async () => {
    expect(await ledger.getError("/v1/transaction/pay?account_id=57&status_version=3")).toEqual([
      400,
      "query parameter status_version must be one of 1, 2",
    ]);
  });
});

describe("a refund and a dispute", () => {
  const card = {
    card_brand_label: "Visa",
    card_type: "DEBIT",
    expiry_date: "11/29",
    last_digits_card_number: "4242",
  };

  const reasons: [reason?: string, shown?: string][] = [
    ["credit_not_processed", "credit_not_processed"],
    ["duplicate", "duplicate"],
    ["fraudulent", "fraudulent"],
    ["general", "general"],
    ["product_not_received", "product_not_received"],
    ["product_unacceptable", "product_unacceptable"],
    ["subscription_canceled", "subscription_canceled"],
    ["unrecognized", "unrecognised"],
    ["constructor", "other"],
    ["  "],
    [],
  ];

  beforeAll(() =>
    ledger.store(
      ...reasons.map(([reason]) =>
        childStory("dispute", `reason-${reason}`.trim(), "other", ["10:00", "DISPUTE_CREATED", { reason }]),
      ),
      story(
        "payment",
        "parent",
        ["10:00", "PAYMENT_CREATED", { amount: 100, fee: 9, reference: "R", description: "D" }],
        [
          "10:01",
          "PAYMENT_DETAILS_ENTERED",
          { ...card, email: "e@example.org", cardholder_name: "N", wallet: "GOOGLE_PAY" },
        ],
      ),
      childStory(
        "refund",
        "refund1",
        "parent",
        [
          "11:00",
          "REFUND_CREATED_BY_USER",
          { amount: 40, refunded_by: "u1", user_email: "u@example.org" },
          { service_id: "svc1", live: false },
        ],
        ["11:01", "REFUND_SUCCEEDED", { gateway_transaction_id: "re9" }],
        ["11:02", "REFUND_INCLUDED_IN_PAYOUT", { gateway_payout_id: "po45" }],
      ),
      childStory(
        "dispute",
        "dispute1",
        "parent",
        [
          "12:00",
          "DISPUTE_CREATED",
          { amount: 50, reason: "unrecognized", evidence_due_date: "2024-04-16T22:59:59.000000Z" },
        ],
        ["12:01", "DISPUTE_LOST", { fee: 1500, net_amount: "-1550" }],
        ["12:02", "DISPUTE_INCLUDED_IN_PAYOUT", { gateway_payout_id: "po45" }],
      ),
      story("payout", "po45", ["13:00", "PAYOUT_PAID", { paid_out_date: "2024-03-11T23:59:59.999999Z" }]),
    ),
  );

  test("show their own amounts and the details of their payment, a refund also its wallet", async () => {
    const payment_details = {
      description: "D",
      reference: "R",
      email: "e@example.org",
      card_details: {
        cardholder_name: "N",
        card_brand: "Visa",
        last_digits_card_number: "4242",
        expiry_date: "11/29",
        card_type: "debit",
      },
      transaction_type: "PAYMENT",
    };
    const common = {
      gateway_account_id: "57",
      parent_transaction_id: "parent",
      settlement_summary: { settled_date: "2024-03-11" },
    };
    expect(await lookUp("refund1")).toEqual({
      ...common,
      transaction_id: "refund1",
      transaction_type: "REFUND",
      amount: 40,
      state: { status: "success", finished: true },
      created_date: "2024-03-05T11:00:00.000Z",
      gateway_transaction_id: "re9",
      service_id: "svc1",
      live: false,
      refunded_by: "u1",
      refunded_by_user_email: "u@example.org",
      gateway_payout_id: "po45",
      payment_details: { ...payment_details, wallet_type: "GOOGLE_PAY" },
    });
    expect(await lookUp("dispute1")).toEqual({
      ...common,
      transaction_id: "dispute1",
      transaction_type: "DISPUTE",
      amount: 50,
      fee: 1500,
      net_amount: -1550,
      state: { status: "lost", finished: true },
      created_date: "2024-03-05T12:00:00.000Z",
      payment_details,
      evidence_due_date: "2024-04-16T22:59:59.000Z",
      reason: "unrecognised",
    });
  });

  test.each(reasons)("show the reason %s of a dispute as %s", async (reason, shown) => {
    expect((await lookUp(`reason-${reason}`.trim())).reason).toBe(shown);
  });

  test.each([
    ["", ["refund1", "dispute1"]],
    ["&transaction_type=REFUND", ["refund1"]],
    ["&transaction_type=dispute", ["dispute1"]],
    ["&transaction_type=PAYMENT", []],
  ])("are listed as children of their payment: %s", async (query, ids) => {
    const { transactions } = await ledger.get(
      `/v1/transaction/parent/transaction?gateway_account_id=57${query}`,
    );
    expect(idsOf(transactions)).toEqual(ids);
  });
});

describe("a payout settles its payments", () => {
  const included = (gateway_payout_id: string): Step => [
    "10:01",
    "PAYMENT_INCLUDED_IN_PAYOUT",
    { gateway_payout_id },
  ];
  const paid = (id: string) =>
    story("payout", id, ["09:00", "PAYOUT_PAID", { paid_out_date: "2024-03-12T01:00:00+02:00" }]);
  const settlementOf = async (id: string, account = "57") =>
    (await lookUp(id, `account_id=${account}`)).settlement_summary;

  test("in any order of arrival, within its account only", async () => {
    await ledger.store(
      payment("settled", {}, included("po46")),
      payment("of another", { gateway_account_id: "58" }, included("po46")),
    );
    expect(await settlementOf("settled")).not.toHaveProperty("settled_date");
    await ledger.store(paid("po46"));
    await expect.poll(() => settlementOf("settled")).toMatchObject({ settled_date: "2024-03-11" });
    expect(await settlementOf("of another", "58")).not.toHaveProperty("settled_date");
  });

  test("and does not affect a payment with the same id", async () => {
    await ledger.store(
      payment("same", { reference: "paid" }),
      story("payout", "same", ["11:00", "PAYOUT_CREATED", { reference: "paid out" }]),
    );
    const shown = { transaction_type: "PAYMENT", reference: "paid", state: { status: "created" } };
    expect(await lookUp("same")).toMatchObject(shown);
    expect(await lookUp("same", "account_id=57&as_of=9999-01-01T00:00:00Z")).toMatchObject(shown);
  });

  test("and is rebuilt by a message with reproject_domain_object, which is not stored", async () => {
    await ledger.store(payment("rebuilt", {}, included("po-rebuilt")), paid("po-rebuilt"));
    await ledger.database.query("update payout set paid_out_date = null where gateway_payout_id = $1", [
      "po-rebuilt",
    ]);
    const [message] = story("payout", "po-rebuilt", ["09:00", "ANY"]);
    await ledger.send({ ...message, reproject_domain_object: true });
    await expect.poll(() => settlementOf("rebuilt")).toMatchObject({ settled_date: "2024-03-11" });
    expect(await ledger.database.query("select from event where event_type = 'ANY'")).toEqual([]);
  });
});

describe("the events of a transaction", () => {
  const list = async (id: string, query = "") =>
    (await ledger.get(`/v1/transaction/${id}/event?gateway_account_id=57${query}`)).events.map(
      (event: { event_type: string; state: { status: string } | null }) => [
        event.event_type,
        event.state?.status,
      ],
    );

  test("are listed once for each state by default, or all", async () => {
    await ledger.store(
      payment(
        "listed",
        {},
        ["10:01", "PAYMENT_STARTED"],
        ["10:02", "GATEWAY_REQUIRES_3DS_AUTHORISATION"],
        ["10:03", "SOMETHING_UNKNOWN"],
        ["10:04", "GATEWAY_ERROR_DURING_AUTHORISATION"],
        ["10:05", "PAYMENT_STATUS_CORRECTED_TO_ERROR_BY_ADMIN"],
        ["10:06", "PAYMENT_STARTED"],
        ["10:07", "CANCELLED_BY_USER"],
        ["10:08", "CANCELLED_BY_EXTERNAL_SERVICE"],
      ),
      childStory(
        "refund",
        "listed-refund",
        "listed",
        ["10:05:30", "REFUND_SUBMITTED"],
        ["10:05:31", "REFUND_ERROR"],
      ),
      childStory("refund", "listed-refund2", "listed", ["10:05:32", "REFUND_SUBMITTED"]),
    );
    expect(await list("listed")).toEqual([
      ["PAYMENT_CREATED", "created"],
      ["PAYMENT_STARTED", "started"],
      ["GATEWAY_ERROR_DURING_AUTHORISATION", "error"],
      ["REFUND_SUBMITTED", "submitted"],
      ["REFUND_ERROR", "error"],
      ["REFUND_SUBMITTED", "submitted"],
      ["CANCELLED_BY_USER", "cancelled"],
      ["CANCELLED_BY_EXTERNAL_SERVICE", "cancelled"],
    ]);
    const all = await list("listed", "&include_all_events=true");
    expect(all).toHaveLength(12);
    expect(all[3]).toEqual(["SOMETHING_UNKNOWN", undefined]);
    expect(await list("listed-refund")).toEqual([
      ["REFUND_SUBMITTED", "submitted"],
      ["REFUND_ERROR", "error"],
    ]);
  });
});

describe("long lists of events and children", () => {
  interface Event {
    event_id: number;
    timestamp: string;
    event_type: string;
  }
  const types = ["PAYMENT_STARTED", "DETAILS_A", "CANCELLED_BY_USER", "DETAILS_B", "AUTHORISATION_SUCCEEDED"];
  /** Fifteen events of the payment and its refunds have the same timestamp. */
  const timeOf = (index: number) => `11:00:${String(Math.floor(index / 10)).padStart(2, "0")}`;
  beforeAll(async () => {
    const steps = Array.from(
      { length: 100 },
      (_, index): Step => [timeOf(2 * index), (index && types[index % 5]) || "PAYMENT_CREATED"],
    );
    await ledger.store(
      story("payment", "long", ...steps),
      ...Array.from({ length: 210 }, (_, index) =>
        childStory("refund", `long-refund${index}`, "long", [timeOf(index), "REFUND_SUBMITTED"]),
      ),
    );
  });
  const path = "/v1/transaction/long/event?gateway_account_id=57";

  test.each(["9999-01-01T00:00:00Z", `${day}T11:00:15Z`])(
    "events are paged, each once and in order, as of %s",
    async (asOf) => {
      const whole = asOf.startsWith("9999") ? "" : `&as_of=${asOf}`;
      const pages = await ledger.pages(`${path}&include_all_events=true${whole}`);
      expect(pages.map(({ events }) => events.length)).toEqual([200, expect.any(Number)]);
      const all: Event[] = pages.flatMap(({ events }) => events);
      const stored = await ledger.database.query<{ id: bigint }>(
        "select id from event where resource_external_id like 'long%' and timestamp <= $1",
        [asOf],
      );
      expect(new Set(all.map(({ event_id }) => event_id))).toEqual(
        new Set(stored.map(({ id }) => Number(id))),
      );
      expect(all).toHaveLength(stored.length);
      const times = all.map(({ timestamp }) => timestamp);
      expect(times).toEqual(times.toSorted());
    },
  );

  test("pages have the first event of each state of each transaction, once", async () => {
    const pages = await ledger.pages(path);
    expect(pages).toHaveLength(2);
    const shown = typesOf(pages.flatMap(({ events }) => events));
    expect(shown.filter((type) => type !== "REFUND_SUBMITTED").toSorted()).toEqual(
      ["PAYMENT_CREATED", "PAYMENT_STARTED", "CANCELLED_BY_USER", "AUTHORISATION_SUCCEEDED"].toSorted(),
    );
    expect(shown).toHaveLength(4 + 210);
  });

  test("children are paged, each once and in order", async () => {
    const pages = await ledger.pages("/v1/transaction/long/transaction?gateway_account_id=57");
    expect(pages.map(({ transactions }) => transactions.length)).toEqual([200, 10]);
    const all = pages.flatMap(({ transactions }) => transactions);
    expect(new Set(idsOf(all)).size).toBe(210);
    const dates = all.map(({ created_date }) => created_date);
    expect(dates).toEqual(dates.toSorted());
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
    const events = await ledger.pages(`/v1/transaction/heavy/event?${query}&include_all_events=true`);
    expect(events.map((page) => page.events.length)).toEqual([3, 2]);
    const children = await ledger.pages(`/v1/transaction/heavy/transaction?${query}`);
    expect(children.map((page) => page.transactions.length)).toEqual([3, 1]);
    const found = await ledger.pages("/v1/transaction?account_id=heavy");
    expect(found.map((page) => [page.results.length, page.count, page.total])).toEqual([
      [3, 3, 5],
      [2, 2, 5],
    ]);
    const { json } = await ledger.request("/v1/transaction?account_id=heavy");
    expect(json._links.next_page).toEqual(json._links.next_cursor);
    expect((await ledger.request("/v1/transaction/heavy1?account_id=heavy")).json).toMatchObject({
      transaction_id: "heavy1",
    });
    const [id] = events.flatMap((page) => page.events).map(({ event_id }) => event_id);
    expect((await ledger.request(`/v1/event/${id}`)).json.event_details.note).toHaveLength(900_000);
  });

  test.each(["x", "WyIxNyJd", Buffer.from(`["${day}T11:00:00.000000Z","a","b"]`).toString("base64url")])(
    "the cursor %s is rejected",
    async (cursor) => {
      for (const list of ["event", "transaction"]) {
        const path = `/v1/transaction/long/${list}?gateway_account_id=57&cursor=${cursor}`;
        const message = "query parameter cursor must be from a link next_cursor";
        expect(await ledger.getError(path)).toEqual([400, message]);
      }
    },
  );
});

describe("as of an instant", () => {
  beforeAll(() =>
    ledger.store(
      payment(
        "old",
        { amount: 100, reference: "first" },
        ["11:00", "CAPTURE_CONFIRMED", { reference: "second" }],
        ["12:00", "PAYMENT_INCLUDED_IN_PAYOUT", { gateway_payout_id: "po47", reference: "third" }],
      ),
      childStory(
        "refund",
        "old-refund",
        "old",
        ["11:30", "REFUND_SUBMITTED", { amount: 10 }],
        ["12:30", "REFUND_SUCCEEDED"],
      ),
      childStory("dispute", "old-dispute", "old", ["12:30", "DISPUTE_CREATED", { amount: 10 }]),
      payment("old-foreign", { gateway_account_id: "58" }, [
        "12:00",
        "PAYMENT_INCLUDED_IN_PAYOUT",
        { gateway_payout_id: "po47" },
      ]),
      story("payout", "po47", ["13:00", "PAYOUT_PAID", { paid_out_date: "2024-03-05T13:00:00Z" }]),
    ),
  );

  test.each([
    ["2024-03-05T10:00:00Z", { state: { status: "created" }, reference: "first" }],
    ["2024-03-05T10:59:59.999999Z", { state: { status: "created" } }],
    ["2024-03-05T11:00:00Z", { state: { status: "success" }, reference: "second" }],
    ["2024-03-05T12:00:00%2B01:00", { state: { status: "success" }, reference: "second" }],
    ["2024-03-05T13:00Z", { settlement_summary: { settled_date: "2024-03-05" } }],
    ["9999-01-01T00:00:00Z", { settlement_summary: { settled_date: "2024-03-05" } }],
  ])("%s, a lookup shows the events up to then", async (asOf, shown) => {
    expect(await lookUp("old", `account_id=57&as_of=${asOf}`)).toMatchObject(shown);
  });

  test.each(["old", "old-refund", "old-dispute", "old-foreign"])(
    "in the future, a lookup of %s returns the same as without as_of",
    async (id) => {
      const query = "override_account_id_restriction=true";
      const shown = await lookUp(id, query);
      expect(shown.transaction_id).toBe(id);
      expect(await lookUp(id, `${query}&as_of=9999-12-31T00:00:00Z`)).toEqual(shown);
    },
  );

  test("a payment is not settled before its payout", async () => {
    const { gateway_payout_id, settlement_summary } = await lookUp(
      "old",
      "account_id=57&as_of=2024-03-05T12:30Z",
    );
    expect(gateway_payout_id).toBe("po47");
    expect(settlement_summary).not.toHaveProperty("settled_date");
  });

  test("a child shows the details that its payment had then", async () => {
    const shown = await lookUp("old-refund", "account_id=57&as_of=2024-03-05T11:45:00Z");
    expect(shown).toMatchObject({ state: { status: "submitted" }, payment_details: { reference: "second" } });
  });

  test.each([
    ["account_id=57&as_of=2024-03-05T09:59:59Z", 404],
    ["account_id=58&as_of=2024-03-05T12:00:00Z", 404],
    ["account_id=57&transaction_type=REFUND&as_of=2024-03-05T12:00:00Z", 404],
    ["account_id=57&parent_external_id=old&as_of=2024-03-05T12:00:00Z", 404],
    ["as_of=2024-03-05T12:00:00Z", 400],
    ["account_id=57&as_of=2024-03-05", 400],
    ["account_id=57&as_of=2024-03-05T12:00:00", 400],
    ["account_id=57&as_of=2024-03-05T12:00:00+01:00", 400],
  ])("%s returns %i", async (query, status) => {
    expect((await ledger.request(`/v1/transaction/old?${query}`)).status).toBe(status);
  });

  const eventsOf = (id: string, asOf: string) =>
    `/v1/transaction/${id}/event?gateway_account_id=57&as_of=${day}T${asOf}Z`;

  test("the list of events has those up to then", async () => {
    expect(typesOf((await ledger.get(eventsOf("old", "10:30"))).events)).toEqual(["PAYMENT_CREATED"]);
    const types = ["PAYMENT_CREATED", "CAPTURE_CONFIRMED", "REFUND_SUBMITTED"];
    expect(typesOf((await ledger.get(eventsOf("old", "11:30"))).events)).toEqual(types);
    expect((await ledger.getError(eventsOf("old", "09:00")))[0]).toBe(404);
    expect((await ledger.getError(eventsOf("old-foreign", "12:00")))[0]).toBe(404);
  });

  test("a child belongs to the parent that it had then", async () => {
    await ledger.store(
      story(
        "refund",
        "moved",
        ["11:00", "REFUND_SUBMITTED", {}, { parent_resource_external_id: "from" }],
        ["12:00", "REFUND_SUCCEEDED", {}, { parent_resource_external_id: "to" }],
      ),
      payment("from"),
      payment("to"),
    );
    const counts = async (asOf: string) => [
      (await ledger.get(eventsOf("from", asOf))).events.length,
      (await ledger.get(eventsOf("to", asOf))).events.length,
    ];
    expect(await counts("11:30")).toEqual([2, 1]);
    expect(await counts("12:30")).toEqual([1, 3]);
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

  test("shows its own details", async () => {
    expect(await lookUp("ours", "account_id=58")).toMatchObject({
      parent_transaction_id: "theirs",
      payment_details: { reference: "own" },
    });
  });

  test.each(["reference=secret", "email=secret", "cardholder_name=secret"])(
    "is not found by the details of the payment: %s",
    async (filter) => {
      const { results } = await ledger.get(`/v1/transaction?account_id=57,58&${filter}`);
      expect(idsOf(results)).toEqual(["theirs"]);
    },
  );

  test.each(["", `&as_of=${day}T13:00:00Z`])("is in no list of the payment's account%s", async (asOf) => {
    const path = "/v1/transaction/theirs/event?gateway_account_id";
    const { events } = await ledger.get(`${path}=57&include_all_events=true${asOf}`);
    expect(typesOf(events)).toEqual(["PAYMENT_CREATED", "CAPTURE_CONFIRMED"]);
    expect((await ledger.getError(`/v1/transaction/theirs?account_id=58${asOf}`))[0]).toBe(404);
    expect((await ledger.getError(`${path}=58${asOf}`))[0]).toBe(404);
  });

  test("is in no list of children", async () => {
    const path = "/v1/transaction/theirs/transaction?gateway_account_id";
    expect((await ledger.get(`${path}=57`)).transactions).toEqual([]);
    expect((await ledger.getError(`${path}=58`))[0]).toBe(404);
  });
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
    ["gateway_transaction_id=gtx7&payment_provider=Stripe", 200, "g2"],
    ["gateway_transaction_id=gtx7&payment_provider=sandbox", 200, "g3"],
    ["gateway_transaction_id=gtx7&payment_provider=other", 404, undefined],
    ["gateway_transaction_id=gtx8&payment_provider=stripe", 404, undefined],
    ["gateway_transaction_id=gtx7", 400, undefined],
    ["gateway_transaction_id=&payment_provider=stripe", 400, undefined],
  ])("%s returns %i %s", async (query, status, id) => {
    const response = await ledger.request(`/v1/transaction/gateway-transaction?${query}`);
    expect([response.status, response.json.transaction_id]).toEqual([status, id]);
  });

  test("shows the status of version 2", async () => {
    expect(
      (await lookUp("gateway-transaction", new URLSearchParams(stripe("gtx9")).toString())).state.status,
    ).toBe("declined");
  });
});
