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
  timestamp: "noon",
  service_id: 7,
  live: "yes",
  reproject_domain_object: false,
};

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

test("a text is masked where the contract has personal data", () => {
  const members = Object.entries(contract.components.schemas.EventDetails.properties);
  const expected = members.map(([name, schema]) => [name, "x-personal-data" in schema ? "(text)" : email]);
  const event_details = Object.fromEntries(members.map(([name]) => [name, email]));
  expect(masked(JSON.stringify({ event_details }))).toEqual({ event_details: Object.fromEntries(expected) });
  expect(new Set(expected.map(([, text]) => text)).size).toBe(2);
});

test("members that the contract does not have are numbered and masked, also those that every object inherits", () => {
  expect(
    masked(`{
      "${email}": 1, "event_type": "A", "__proto__": "${email}", "constructor": "${email}", "email": "${email}",
      "event_details": {"toString": "${email}", "event_type": "${email}", "event_details": {"amount": "${email}"}, "${email}": null}
    }`),
  ).toEqual({
    "(member 1)": "(number)",
    event_type: "A",
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
    viewMaskedMessage(parseExactly('{"event_details":{"amount":12345678901234567890.10,"fee":1e300}}')),
  ).toBe('{\n  "event_details": {\n    "amount": 12345678901234567890.10,\n    "fee": 1e300\n  }\n}');
});
