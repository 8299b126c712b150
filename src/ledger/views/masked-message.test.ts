import fc from "fast-check";
import { expect, test } from "vitest";
import contract from "../../../generated/ledger.json" with { type: "json" };
import { parseExactly } from "../../values/exact-json.ts";
import { viewMaskedMessage } from "./masked-message.ts";

const email = "angler@example.org";

/** The masked form of a JSON text. */
const masked = (text: string) => JSON.parse(viewMaskedMessage(parseExactly(text)));

const shown = {
  event_type: "PAYMENT_CREATED",
  resource_type: "payment",
  resource_external_id: "pay1",
  parent_resource_external_id: "",
  timestamp: "2024-03-05T09:14:22+01:00",
  service_id: "svc91b27",
  gateway_account_id: 57,
  live: "true",
  reproject_domain_object: false,
};
/** A value that each member that is shown can have. */
const wellFormed = {
  ...{
    amount: 4250,
    total_amount: "4250",
    net_amount: -1,
    fee: 0,
    corporate_surcharge: 10,
    refund_amount_available: 1,
  },
  ...{
    refund_amount_refunded: 2,
    gateway_account_id: "57",
    credential_external_id: "731a6fcb0d1c4e2f",
    language: "cy",
    currency: "gbp",
  },
  ...{
    payment_provider: "sandbox",
    card_brand: "american-express",
    card_type: "CREDIT",
    wallet: "APPLE_PAY",
  },
  ...{
    gateway_transaction_id: "pi_3NxAyc2e",
    gateway_payout_id: "po_1NxAyc",
    agreement_id: "agr7f3k2m9q1x5c8v4b6n0t2w",
  },
  ...{
    agreement_payment_type: "recurring",
    refund_status: "available",
    version_3ds: "2.1.0",
    reason: "product_not_received",
  },
  ...{
    live: true,
    moto: "false",
    delayed_capture: false,
    disputed: true,
    can_retry: true,
    requires_3ds: false,
  },
  ...{ source: "CARD_API", authorisation_mode: "web", exemption3ds: "EXEMPTION_HONOURED" },
  ...{ exemption_3ds_requested: "OPTIMISED", capture_submitted_date: "2024-03-05T09:14:22.018408Z" },
  ...{
    captured_date: "2024-03-05T09:14:22Z",
    evidence_due_date: "2024-03-05T09:14:22Z",
    paid_out_date: "2024-03-05",
  },
  ...{ gateway_event_date: "2024-03-05T09:14:22Z", estimated_arrival_date_in_bank: "2024-03-05" },
  ...{
    cancelled_date: "2024-03-05T09:14:22Z",
    payment_instrument_id: "ins7",
    save_payment_instrument_to_agreement: true,
  },
  ...{
    zendesk_id: 12345,
    gateway_status: "paid",
    destination_type: "bank_account",
    failure_code: "account_closed",
  },
  ...{ failure_balance_transaction: "txn_1Nx", payment_instrument_external_id: "ins7", type: "CARD" },
  agreement_external_id: "0b7f1f57-6f3d-4a0b-8f0e-3f1d0a4cbb1e",
};
/** Free texts and lists, which can be anything. */
const neverShown = [
  "card_brand_label",
  "fee_breakdown",
  "failure_message",
  "gateway_rejection_reason",
  "statement_descriptor",
];
const { EventMessage, EventDetails } = contract.components.schemas;

test.each<[string, object, object]>([
  [
    "members of the contract are shown, except personal data",
    { ...shown, event_details: { amount: 4250, email, language: null } },
    { ...shown, event_details: { amount: 4250, email: "(text)", language: null } },
  ],
  [
    "each type of value is masked by its name, and null stays null",
    {
      event_details: {
        ...{ email, reference: 1.5, description: false, cardholder_name: null },
        ...{ user_identifier: { email }, updated_reason: [email], external_metadata: { [email]: email } },
      },
    },
    {
      event_details: {
        ...{ email: "(text)", reference: "(number)", description: "(boolean)", cardholder_name: null },
        ...{ user_identifier: "(object)", updated_reason: "(list)", external_metadata: "(object)" },
      },
    },
  ],
  [
    "an object or a list in a member that is shown is masked, since it can have any members",
    {
      ...{ event_type: [email], timestamp: { email } },
      event_details: { amount: { email }, fee_breakdown: [{ fee_type: email }], type: [], live: {} },
    },
    {
      ...{ event_type: "(list)", timestamp: "(object)" },
      event_details: { amount: "(object)", fee_breakdown: "(list)", type: "(list)", live: "(object)" },
    },
  ],
])("%s", (_title, message, expected) => {
  expect(masked(JSON.stringify(message))).toEqual(expected);
});

test("each member of the contract is personal data, is never shown, or is shown if it has its form", () => {
  const names = Object.entries(EventDetails.properties).flatMap(([name, schema]) =>
    "x-personal-data" in schema ? [] : name,
  );
  expect(names.toSorted()).toEqual([...Object.keys(wellFormed), ...neverShown].toSorted());
  expect(Object.keys(EventMessage.properties).toSorted()).toEqual(
    [...Object.keys(shown), "event_details"].toSorted(),
  );
  const whole = { ...shown, event_details: wellFormed };
  expect(masked(JSON.stringify(whole))).toEqual(whole);
  const event_details = Object.fromEntries(neverShown.map((name) => [name, "paid"]));
  expect(Object.values(masked(JSON.stringify({ event_details })).event_details)).toEqual(
    neverShown.map(() => "(text)"),
  );
});

const persons = [
  ...[
    "Planted Name",
    "Planted",
    "PLANTED",
    "planted@example.org",
    "planted name",
    "1 Planted Street",
    "planted 2",
  ],
  ...[
    "4242424242424242",
    "4242 4242 4242 4242",
    "4242-4242-4242-4242",
    "3782-822463-10005",
    "378282246310005",
  ],
  ...[
    "+44 7700 900123",
    "2024-03-05T09:14:22Z Planted",
    "PAYMENT_CREATED planted",
    "Planted\nNAME_OF",
    "true planted",
  ],
];
const planted = [
  ...persons.map((text) => JSON.stringify(text)),
  ...[
    "4242424242424242",
    "4.242424242424242e15",
    "378282246310005",
    "4242424242424242.0",
    "0.4242424242424242",
  ],
];
const wrapped = fc
  .tuple(
    fc.constantFrom(...planted),
    fc.constantFrom("V", "[V]", '{"amount":V}', '[{"event_type":V}]', '{"event_details":{"amount":V}}'),
  )
  .map(([value, form]) => form.replace("V", () => value));

test.each([
  ["a message", Object.keys(EventMessage.properties), (members: string) => `{${members}}`],
  [
    "its details",
    Object.keys(EventDetails.properties),
    (members: string) => `{"event_details":{${members}}}`,
  ],
])("no member of %s shows a value that has not its form", (_title, names, around) => {
  const members = fc.uniqueArray(fc.tuple(fc.constantFrom(...names), wrapped), {
    minLength: 1,
    selector: ([name]) => name,
  });
  fc.assert(
    fc.property(members, (all) => {
      const text = around(all.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(","));
      expect(viewMaskedMessage(parseExactly(text))).not.toMatch(/planted|4242|3782|7700/i);
    }),
    { numRuns: 2000 },
  );
});

test("members that the contract does not have are numbered and masked, also those that every object inherits", () => {
  expect(
    masked(`{
      "${email}": 1, "event_type": "A_B", "__proto__": "${email}", "constructor": "${email}", "email": "${email}",
      "event_details": {"toString": "${email}", "event_type": "${email}", "event_details": {"amount": "${email}"}, "${email}": null}
    }`),
  ).toEqual({
    "(member 1)": "(number)",
    event_type: "A_B",
    ...{ "(member 2)": "(text)", "(member 3)": "(text)", "(member 4)": "(text)" },
    event_details: {
      ...{ "(member 1)": "(text)", "(member 2)": "(text)", "(member 3)": "(object)", "(member 4)": null },
    },
  });
});

const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
test.each([
  ["text", `"${email}"`, "(text)"],
  ["list", `["${email}"]`, "(list)"],
  ["deep list", deep, "(list)"],
  ["number", "1.0000000000000000001", "(number)"],
  ["boolean", "true", "(boolean)"],
  ["null", "null", null],
])("of a message, details or a member that are a %s only the type is shown", (_title, text, type) => {
  expect(masked(text)).toBe(type);
  expect(masked(`{"event_details":${text}}`)).toEqual({ event_details: type });
  expect(masked(`{"event_details":{"reference":${text}}}`)).toEqual({ event_details: { reference: type } });
});

test("the text is indented JSON, and numbers that are shown keep all their digits", () => {
  expect(
    viewMaskedMessage(
      parseExactly('{"event_details":{"amount":123456789012.00,"fee":1e300,"gateway_account_id":57.10}}'),
    ),
  ).toBe(
    '{\n  "event_details": {\n    "amount": 123456789012.00,\n    "fee": "(number)",\n    "gateway_account_id": "(number)"\n  }\n}',
  );
});
