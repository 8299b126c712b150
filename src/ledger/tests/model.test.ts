import { expect, test } from "vitest";
import contract from "../../../generated/ledger.json" with { type: "json" };
import { generateMessages } from "../../../simulation/ledger/messages.ts";
import { Oracle } from "../../../simulation/ledger/oracle.ts";
import {
  allPages,
  allReads,
  children,
  csv,
  eventList,
  lookup,
  type Read,
  randomReportRead,
  reportPage,
  reportPages,
} from "../../../simulation/ledger/reads.ts";
import { eventually } from "../../../testing/eventually.ts";
import { childStory, type Step, story } from "../../../testing/messages.ts";
import { seeded } from "../../../testing/random.ts";
import { mergeSummaryChanges } from "../tables/summary/upkeep.ts";
import { ledgerOfFile, modelEvent, payment } from "./ledger.fixture.ts";

/** Each with refunds, a dispute, a payout and an agreement, as in the simulation. */
const payments = 60;
/** Always the same: the simulation has others. */
const random = seeded(20240305);

const types = ["payment", "refund", "dispute", "payout", "agreement"] as const;
const idOfType = (type: string, eventType: string) => `${type} ${eventType}`;
const eachType = types.flatMap((type) =>
  contract["x-event-types"][type].rows.map(({ event_type }) => ({ type, event_type })),
);
const keys = Array.from({ length: 101 }, (_, index) => [`KEY ${index}`, index]);
const reasons = ["credit_not_processed", "duplicate", "general", "product_not_received", "constructor"];
const otherReasons = ["product_unacceptable", "subscription_canceled", "unrecognized", "  ", undefined];
const inPayout = (gateway_payout_id: string): Step => ["10:01", "A", { gateway_payout_id }];

/** Values and relations that random messages have seldom or never. */
const rare = [
  ...eachType.map(({ type, event_type }) =>
    story(type, idOfType(type, event_type), ["10:00", event_type, {}, { live: true }]),
  ),
  payment("keys", { gateway_account_id: "keys", external_metadata: Object.fromEntries(keys) }),
  payment("of two accounts", { gateway_account_id: "keys1", external_metadata: { a: 1 } }, [
    "11:00",
    "A",
    { gateway_account_id: "keys2", external_metadata: { b: 1 } },
  ]),
  ...["large1", "large2"].map((id) =>
    payment(id, { gateway_account_id: "large", amount: Number.MAX_SAFE_INTEGER }),
  ),
  payment("odd", {
    ...{ last_digits_card_number: 42, version_3ds: "2.2.0", amount: "0012", email: "of the payment" },
    ...{ address_line2: "2 Pier", address_city: "Northtown", address_county: "North", wallet: "GOOGLE_PAY" },
  }),
  ...[...reasons, ...otherReasons].map((reason) =>
    childStory("dispute", `reason ${reason}`, "odd", ["10:00", "DISPUTE_CREATED", { reason }]),
  ),
  childStory("refund", "without account", "odd", [
    "11:00",
    "A",
    { gateway_account_id: null, reference: "own" },
  ]),
  childStory("refund", "of another account", "odd", ["11:00", "A", { gateway_account_id: "58" }]),
  story(
    "refund",
    "moved",
    ["11:00", "REFUND_SUBMITTED", {}, { parent_resource_external_id: "odd" }],
    ["12:00", "REFUND_SUCCEEDED", {}, { parent_resource_external_id: "settled" }],
  ),
  payment("settled", {}, inPayout("paid"), ["11:30", "CAPTURE_CONFIRMED", { email: "later" }]),
  payment("of no account", { gateway_account_id: null, email: "of nobody" }, ["10:30", "PAYOUT_PAID"]),
  childStory("refund", "of nobody", "of no account", [
    "11:00",
    "A",
    { gateway_account_id: null, email: "own" },
  ]),
  ...["a", "b"].map((key, index) =>
    story("payment", "a child", [`10:0${index}`, "A", { external_metadata: { [key]: index } }]).map(
      (message) => ({ ...message, parent_resource_external_id: "odd" }),
    ),
  ),
  story("agreement", "live in details", ["10:00", "AGREEMENT_CREATED", { live: true, user_email: "a@b.c" }]),
  ...["OTHER", "AGREEMENT_SET_UP", "AGREEMENT_CANCELLED_BY_SERVICE"].map((later) =>
    story(
      "agreement",
      `cancelled before ${later}`,
      ["11:00", "AGREEMENT_CANCELLED_BY_USER", { user_email: "a@b.c" }],
      ["12:00", later],
    ),
  ),
  payment("not settled", { gateway_account_id: "58" }, inPayout("paid")),
  // It has the id of a payment.
  story("payout", "odd", ["10:00", "PAYOUT_CREATED", { reference: "paid out" }]),
  story("payout", "paid", ["13:00", "PAYOUT_PAID", { paid_out_date: "2024-03-12T01:00:00+02:00" }]),
].flat();

const all = { override_account_id_restriction: "true" };
const times = ["09:59:59", "10:00:00", "11:15:00", "12:00:00", "12:30:00", "13:00:00"];
const rareReads: Read[] = [
  ...["keys", "keys1", "keys2", "57,58"].map((account_id) =>
    csv({ account_id, fee_headers: "true", moto_header: "true" }),
  ),
  ...["large", "57,large"].flatMap((account_id) => [
    reportPage({ account_id, group_by: "account" }),
    reportPages({ account_id, group_by: "account,day,state" }, 4),
  ]),
  children("odd", "57"),
  allPages("transaction", { ...all, email: "of the payment" }, 3, "next_page"),
  allPages("transaction", { ...all, status_version: "1" }, 60, "next_cursor"),
  ...eachType.map(({ type, event_type }) =>
    eventList(idOfType(type, event_type), "57", { status_version: "1" }),
  ),
  ...["odd", "moved", "settled", "not settled", "of another account"].flatMap((id) =>
    times.flatMap((time) => {
      const as_of = `2024-03-05T${time}.000000Z`;
      return [lookup(id, { ...all, as_of }), eventList(id, "57", { as_of, include_all_events: "true" })];
    }),
  ),
];

const ledger = await ledgerOfFile({ limits: { batchSize: 20 } });

test("every response is that of the model, whatever the events and their order, and however much is merged", async () => {
  const generator = generateMessages(random.fork());
  const messages = Array.from({ length: payments }, () => generator.next().value ?? []).flat();
  const events = messages.flatMap((message) => (message.kind === "event" ? message.event : []));
  const oracle = new Oracle([...events, ...rare.map(modelEvent)]);
  const bodies = [...messages.map(({ body }) => body), ...rare.map((message) => JSON.stringify(message))];
  const sent = [...bodies, ...random.sample(bodies, 0.1)].map((body) => ({
    body,
    turn: random.integer(1, 1e6),
  }));
  await ledger.sendText(...sent.toSorted((a, b) => a.turn - b.turn).map(({ body }) => body));
  await eventually(async () =>
    expect(await ledger.database.query("select from event")).toHaveLength(oracle.events.length),
  );
  const get = (path: string, accept = "application/json") => ledger.request(path, { headers: { accept } });
  const reads = [
    ...allReads({ oracle, payments: () => payments }, random),
    ...rareReads,
    ...Array.from({ length: 200 }, () => randomReportRead(random)),
  ];
  for (const [part, changes] of [0, 100, 100_000].entries()) {
    await mergeSummaryChanges(ledger.database, changes);
    for (const read of reads.filter((_, index) => index % 3 === part)) {
      const expected = JSON.parse(JSON.stringify(read.expected(oracle)));
      expect(await read.send(get), read.name).toEqual(expected);
    }
  }
  expect(reads.length).toBeGreaterThan(1000);
});
