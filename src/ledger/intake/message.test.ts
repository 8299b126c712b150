import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { pounds } from "../../values/currency.ts";
import { readMessage as readMessageIn } from "./message.ts";

const valid = {
  event_type: "PAYMENT_CREATED",
  resource_type: "payment",
  resource_external_id: "pay1",
  timestamp: "2024-03-05T09:14:22.018000Z",
  event_details: { amount: 100 },
};
const readMessage = (body: string) => readMessageIn(body, pounds);
const read = (change: object) => readMessage(JSON.stringify({ ...valid, ...change }));
const event = (change: object) => {
  const message = read(change);
  if (message.kind !== "event") throw new Error(JSON.stringify(message));
  return message.event;
};
const invalid = (reason: string, ...faults: object[]) => ({ kind: "invalid", reason, faults, place: "" });

test("a message becomes an event", () => {
  const more = { service_id: "svc", live: true, parent_resource_external_id: "parent" };
  expect(event(more)).toEqual({ ...valid, ...more });
});

test("the examples of the queue's contract are valid", () => {
  const contract = new URL("../../../generated/payment-events.asyncapi.yaml", import.meta.url);
  const { channels, components } = parse(readFileSync(contract, "utf8"));
  const kindsOf = ({ examples }: { examples: { payload: object }[] }) =>
    examples.map(({ payload }) => readMessage(JSON.stringify(payload)).kind);
  const names = Object.keys(channels.paymentEvents.messages);
  expect(names.map((name) => [name, kindsOf(components.messages[name])])).toEqual([
    ["PaymentEvent", ["event", "event", "event", "rebuild"]],
    ["Notification", ["event"]],
    ["CloudEvent", ["event"]],
  ]);
});

test("the message of an Amazon SNS notification is read", () => {
  const inEnvelope = (Message: unknown) =>
    JSON.stringify({ Type: "Notification", MessageId: "m", TopicArn: "t", Message });
  expect(readMessage(inEnvelope(JSON.stringify(valid)))).toEqual(read({}));
  const exact = JSON.stringify(valid).replace("100", '100,"rate":12345678901234567890.10');
  expect(JSON.stringify(readMessage(inEnvelope(exact)))).toContain('"rate":12345678901234567890.10');
  expect(readMessage(inEnvelope("{"))).toEqual(invalid("the message is not JSON"));
  expect(readMessage(inEnvelope(valid))).toMatchObject({ kind: "invalid" });
});

test("a byte order mark at the beginning of a message or of one in an envelope has no effect", () => {
  const marked = `\uFEFF${JSON.stringify(valid)}`;
  expect(readMessage(marked)).toEqual(read({}));
  expect(readMessage(`\uFEFF${JSON.stringify({ Type: "Notification", Message: marked })}`)).toEqual(read({}));
  expect(readMessage(`\uFEFF\uFEFF${JSON.stringify(valid)}`)).toMatchObject({ kind: "invalid" });
});

describe("the other members of a message", () => {
  test("are kept with the event, those that are null excepted, with all digits of their numbers", () => {
    const others = { gateway_account_id: 57, "trace id": { list: [1, "é", null] }, __proto__: undefined };
    expect(event({ ...others, other: null, live: null, reproject_domain_object: false })).toEqual({
      ...event({}),
      other_members: { gateway_account_id: 57, "trace id": { list: [1, "é", null] } },
    });
    expect(event({ other: null })).toEqual(event({}));
    const body = JSON.stringify(valid).replace("{", '{"rate":12345678901234567890.10,"__proto__":{"a":1},');
    expect(JSON.stringify(readMessage(body))).toContain(
      '"other_members":{"rate":12345678901234567890.10,"__proto__":{"a":1}}',
    );
    const inCloudEvent = JSON.stringify({ specversion: "1.0", id: "1", data: { ...valid, more: 1 } });
    expect(readMessage(inCloudEvent)).toEqual(read({ more: 1 }));
  });

  test.each([{ note: "a\u0000" }, { "a\ud800": 1 }])(
    "that cannot be kept make the message invalid: %j",
    (members) => {
      expect(read(members)).toEqual(invalid("a text contains a NUL character or an unpaired surrogate"));
    },
  );

  test("with a number that is too long make it invalid", () => {
    const body = JSON.stringify(valid).replace("{", `{"rate":1e500,"long":${"9".repeat(101)},`);
    expect(readMessage(body)).toMatchObject({ kind: "invalid" });
  });
});

describe("a CloudEvent", () => {
  const envelope = { specversion: "1.0", id: "1", source: "/pay", type: "payment.created" };
  const inCloudEvent = (data: unknown, members: object = {}) =>
    JSON.stringify({ ...envelope, data, ...members });

  test("is read as the event in its data, also from an Amazon SNS notification", () => {
    const expected = readMessage(JSON.stringify(valid));
    const members = { datacontenttype: "application/json", time: "2024-03-05T09:14:22Z", subject: "pay1" };
    expect(readMessage(inCloudEvent(valid))).toEqual(expected);
    expect(readMessage(inCloudEvent(valid, members))).toEqual(expected);
    const notification = { Type: "Notification", Message: inCloudEvent(valid) };
    expect(readMessage(JSON.stringify(notification))).toEqual(expected);
    const rebuild = { ...valid, reproject_domain_object: true };
    expect(readMessage(inCloudEvent(rebuild))).toEqual({ kind: "rebuild", externalId: "pay1" });
  });

  test("keeps the digits of numbers, and rejects what an event may not have", () => {
    const exact = inCloudEvent(valid).replace('"amount":100', '"amount":100,"rate":12345678901234567890.10');
    const message = readMessage(exact);
    expect(JSON.stringify(message)).toContain('"rate":12345678901234567890.10');
    const withNul = { ...valid, event_details: { reference: "a\u0000" } };
    expect(readMessage(inCloudEvent(withNul))).toMatchObject({
      reason: "a text contains a NUL character or an unpaired surrogate",
    });
    expect(readMessage(inCloudEvent({ ...valid, timestamp: "noon" }))).toMatchObject({ kind: "invalid" });
  });

  test.each([
    ["no data", inCloudEvent(undefined)],
    ["data in base64", inCloudEvent(undefined, { data_base64: "e30=" })],
    ["a text as data", inCloudEvent(JSON.stringify(valid))],
    ["a list as data", inCloudEvent([valid])],
  ])("with %s is invalid", (_title, body) => {
    expect(readMessage(body)).toEqual(invalid("the data of the CloudEvent must be an object"));
  });

  test("of another version is invalid", () => {
    const reason = "the specversion of the CloudEvent must be 1.0";
    expect(readMessage(inCloudEvent(valid, { specversion: "0.3" }))).toEqual(invalid(reason));
  });

  test("is none if it has a type of an event itself", () => {
    expect(event({ specversion: "0.3", data: {} })).toMatchObject(event({}));
  });
});

// `model.test.ts` of the ledger has the encodings that the simulation knows.
describe("lenient reading", () => {
  test("a timestamp can have a negative offset", () => {
    const { timestamp } = event({ timestamp: "2024-03-05T23:30:00-01:00" });
    expect(timestamp).toBe("2024-03-06T00:30:00.000000Z");
  });

  test("null members of the details are dropped", () => {
    const { event_details } = event({ event_details: { a: null, b: { c: null } } });
    expect(event_details).toEqual({ b: { c: null } });
  });

  test.each([
    ["unknown event types are events", { event_type: "SOMETHING_NEW" }],
    ["an escaped backslash before u0000 is not NUL", { event_details: { a: "\\u0000" } }],
    ["amounts may be text", { event_details: { amount: "100" } }],
  ])("%s", (_name, change) => {
    expect(event(change)).toMatchObject(change);
  });

  test("a member named __proto__ is an ordinary member", () => {
    const body = JSON.stringify(valid).replace('"amount":100', '"__proto__":{"amount":1}');
    const message = readMessage(body);
    expect(JSON.stringify(message)).toContain('"__proto__":{"amount":1}');
  });
});

test("a message can request the rebuild of a transaction", () => {
  expect(read({ reproject_domain_object: true })).toEqual({ kind: "rebuild", externalId: "pay1" });
  expect(read({ reproject_domain_object: "false" }).kind).toBe("event");
});

test("details that are nested 90 levels deep are valid", () => {
  const nest = (levels: number): object => (levels === 0 ? {} : { a: nest(levels - 1) });
  expect(read({ event_details: nest(90) }).kind).toBe("event");
});

describe("an invalid message has a reason", () => {
  test("not JSON", () => {
    expect(readMessage("{")).toEqual(invalid("the message is not JSON"));
  });

  test.each([
    ["a number", "5"],
    ["an array", "[]"],
  ])("%s", (_name, body) => {
    const detail = "the message must be an object";
    expect(readMessage(body)).toEqual(invalid(detail, { pointer: "", rule: { type: "object" }, detail }));
  });

  test("an empty object", () => {
    const reason =
      "event_type is required; resource_type is required; resource_external_id is required; timestamp is required";
    const faults = reason.split("; ").map((detail) => {
      return { pointer: `/${detail.split(" ", 1)}`, rule: { required: true }, detail };
    });
    expect(readMessage("{}")).toEqual(invalid(reason, ...faults));
  });

  test.each([
    ["arrays", "[".repeat(100_000) + "]".repeat(100_000)],
    ["objects", `${'{"a":'.repeat(101)}1${"}".repeat(101)}`],
  ])("%s nested too deeply", (_name, details) => {
    const body = JSON.stringify(valid).replace('"amount":100', `"deep":${details}`);
    expect(readMessage(body)).toEqual(invalid("the message is nested more than 100 levels deep"));
  });

  test("more than 1 MiB", () => {
    const body = JSON.stringify(valid).replace("100", `"${"é".repeat(600_000)}"`);
    expect(readMessage(body)).toEqual(invalid("the message is larger than 1 MiB"));
    expect(readMessage(JSON.stringify(valid).padEnd(2 ** 20)).kind).toBe("event");
  });

  const types = ["payment", "refund", "dispute", "payout", "agreement", "payment_instrument", "service"];
  const oneOfTypes = `resource_type must be one of ${types.join(", ")} or card_payment`;
  const enumOfTypes = { enum: [...types, "card_payment"] };
  const instant = "timestamp must be an instant with a UTC offset, such as 2024-03-05T09:14:22Z";
  const seconds = "timestamp must have seconds and a UTC offset of hours and minutes or Z";
  const pence = "event_details/amount must be an integer or a text of up to 15 digits";
  const text = "must be a text, a number, true or false";
  const textTypes = { type: ["string", "number", "boolean"] };
  const sources = ["CARD_API", "CARD_PAYMENT_LINK", "CARD_AGENT_INITIATED_MOTO"];
  const oneOfSources = `event_details/source must be one of ${sources.join(", ")} or CARD_EXTERNAL_TELEPHONE`;
  test.each<[change: object, detail: string, rule: object, meant?: unknown]>([
    [{ resource_type: "PAYMENT" }, oneOfTypes, enumOfTypes, "payment"],
    [{ resource_type: "charge" }, oneOfTypes, enumOfTypes],
    [{ resource_external_id: "" }, "resource_external_id must not be empty", { minLength: 1 }],
    [
      { resource_external_id: "x".repeat(256) },
      "resource_external_id must have at most 255 characters",
      { maxLength: 255 },
    ],
    [{ event_type: null }, "event_type is required", { required: true }],
    [{ timestamp: "2024-03-05T09:14:22" }, instant, { format: "date-time" }],
    [{ timestamp: "2024-02-30T09:14:22Z" }, instant, { format: "date-time" }],
    [{ timestamp: "2024-03-05T09:14Z" }, seconds, { "x-rfc-3339": true }, "2024-03-05T09:14:00Z"],
    [{ timestamp: 1709630062 }, "timestamp must be a text", { type: "string" }, "2024-03-05T09:14:22.000Z"],
    [
      { live: "yes" },
      'live must be true, false, "true", "false" or "null"',
      { enum: ["true", "false", "null"] },
      true,
    ],
    [{ gateway_account_id: {} }, `gateway_account_id ${text}`, textTypes],
    [{ event_details: "text" }, "event_details must be an object", { type: "object" }],
    [{ event_details: { amount: "a lot" } }, pence, { pattern: String.raw`^-?\d{1,15}$` }],
    [{ event_details: { amount: 1.5 } }, pence, { type: ["integer", "string"] }],
    [{ event_details: { reference: {} } }, `event_details/reference ${text}`, textTypes],
    [
      { event_details: { source: "CARRIER_PIGEON" } },
      oneOfSources,
      { enum: [...sources, "CARD_EXTERNAL_TELEPHONE"] },
    ],
  ])("%j", (change, detail, rule, meant) => {
    const pointer = `/${detail.split(" ", 1)}`;
    const remedy = [{ op: "replace", path: pointer, value: meant }];
    const fault = { pointer, rule, detail, ...(meant !== undefined && { remedy }) };
    expect(read(change)).toEqual(invalid(detail, fault));
  });

  test.each([
    [{ gateway_account_id: "x".repeat(256) }, /^gateway_account_id must .*at most 255 characters/],
    [{ event_details: { amount: 2 ** 53 } }, /^event_details\/amount must .*at most 9007199254740991/],
  ])("with the limit of an alternative: %j", (change, reason) => {
    expect(read(change)).toMatchObject({ reason: expect.stringMatching(reason), faults: [{}] });
  });

  test("with a required member that is misspelt", () => {
    const remedy = [{ op: "move", from: "/timestmp", path: "/timestamp" }];
    expect(read({ timestamp: undefined, timestmp: valid.timestamp })).toMatchObject({
      kind: "invalid",
      faults: [{ pointer: "/timestamp", rule: { required: true }, remedy }],
    });
  });

  test.each([
    { event_details: { note: "a\u0000b" } },
    { event_details: { deep: [{ note: "\ud800" }] } },
    { event_type: "A\u0000B" },
  ])("%j", (change) => {
    expect(read(change)).toEqual(invalid("a text contains a NUL character or an unpaired surrogate"));
  });
});
