import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readMessage } from "./message.ts";

const valid = {
  event_type: "PAYMENT_CREATED",
  resource_type: "payment",
  resource_external_id: "pay1",
  timestamp: "2024-03-05T09:14:22.018000Z",
  event_details: { amount: 100 },
};
const read = (change: object) => readMessage(JSON.stringify({ ...valid, ...change }));
const event = (change: object) => {
  const message = read(change);
  if (message.kind !== "event") throw new Error(JSON.stringify(message));
  return message.event;
};

test("a message becomes an event", () => {
  const more = { service_id: "svc", live: true, parent_resource_external_id: "parent" };
  expect(event(more)).toEqual({ ...valid, ...more });
});

test("the examples of the queue's contract are valid", () => {
  const contract = new URL("../../../generated/payment-events.asyncapi.yaml", import.meta.url);
  const { messages } = parse(readFileSync(contract, "utf8")).components;
  const kindsOf = ({ examples }: { examples: { payload: object }[] }) =>
    examples.map(({ payload }) => readMessage(JSON.stringify(payload)).kind);
  expect(Object.entries(messages).map(([name, message]) => [name, kindsOf(message as never)])).toEqual([
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
  expect(readMessage(inEnvelope("{"))).toEqual({ kind: "invalid", reason: "the message is not JSON" });
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

  test.each([
    [{ gateway_account_id: {} }, "gateway_account_id must be"],
    [{ gateway_account_id: "x".repeat(256) }, "gateway_account_id must NOT have more than 255 characters"],
    [{ note: "a\u0000" }, "a text contains a NUL character"],
    [{ "a\ud800": 1 }, "a text contains a NUL character or an unpaired surrogate"],
  ])("that cannot be kept make the message invalid: %j", (members, reason) => {
    expect(read(members)).toEqual({ kind: "invalid", reason: expect.stringContaining(reason) });
  });

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
    expect(readMessage(body)).toEqual({
      kind: "invalid",
      reason: "the data of the CloudEvent must be an object",
    });
  });

  test("of another version is invalid", () => {
    const reason = "the specversion of the CloudEvent must be 1.0";
    expect(readMessage(inCloudEvent(valid, { specversion: "0.3" }))).toEqual({ kind: "invalid", reason });
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
  test.each([
    ["not JSON", "{", "the message is not JSON"],
    ["a number", "5", "the value must be object"],
    ["an array", "[]", "the value must be object"],
    [
      "an empty object",
      "{}",
      "event_type is required; resource_type is required; resource_external_id is required; timestamp is required",
    ],
  ])("%s", (_name, body, reason) => {
    expect(readMessage(body)).toEqual({ kind: "invalid", reason });
  });

  test.each([
    ["arrays", "[".repeat(100_000) + "]".repeat(100_000)],
    ["objects", `${'{"a":'.repeat(101)}1${"}".repeat(101)}`],
  ])("%s nested too deeply", (_name, details) => {
    const body = JSON.stringify(valid).replace('"amount":100', `"deep":${details}`);
    expect(readMessage(body)).toEqual({
      kind: "invalid",
      reason: "the message is nested more than 100 levels deep",
    });
  });

  test("more than 1 MiB", () => {
    const body = JSON.stringify(valid).replace("100", `"${"é".repeat(600_000)}"`);
    expect(readMessage(body)).toEqual({ kind: "invalid", reason: "the message is larger than 1 MiB" });
    expect(readMessage(JSON.stringify(valid).padEnd(2 ** 20)).kind).toBe("event");
  });

  test.each([
    [{ resource_type: "PAYMENT" }, "resource_type must be one of payment, refund, dispute"],
    [{ resource_type: "charge" }, "resource_type must be one of"],
    [{ resource_external_id: "" }, "resource_external_id"],
    [{ resource_external_id: "x".repeat(256) }, "must NOT have more than 255 characters"],
    [{ event_type: null }, "event_type is required"],
    [{ timestamp: "2024-03-05T09:14:22" }, "timestamp"],
    [{ timestamp: "2024-02-30T09:14:22Z" }, "timestamp"],
    [{ timestamp: 1709630062 }, "timestamp must be string"],
    [{ live: "yes" }, "live must be one of"],
    [{ event_details: "text" }, "event_details must be object"],
    [{ event_details: { amount: "a lot" } }, "event_details/amount"],
    [{ event_details: { amount: 1.5 } }, "event_details/amount"],
    [{ event_details: { amount: 9007199254740992 } }, "event_details/amount"],
    [{ event_details: { reference: {} } }, "event_details/reference"],
    [{ event_details: { source: "CARRIER_PIGEON" } }, "event_details/source must be one of"],
    [{ event_details: { note: "a\u0000b" } }, "NUL"],
    [{ event_details: { deep: [{ note: "\ud800" }] } }, "surrogate"],
    [{ event_type: "A\u0000B" }, "NUL"],
  ])("%j", (change, reason) => {
    const message = read(change);
    expect(message.kind === "invalid" && message.reason).toContain(reason);
  });
});
