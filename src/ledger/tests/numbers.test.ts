import { describe, expect, test } from "vitest";
import { message } from "../../../testing/messages.ts";
import { pounds } from "../../values/currency.ts";
import { readMessage } from "../intake/message.ts";
import { ledgerOfFile } from "./ledger.fixture.ts";

const ledger = await ledgerOfFile();

/** A message with details given as JSON text, since JavaScript cannot represent every number of a producer. */
const messageWith = (id: string, details: string, account = "57") =>
  JSON.stringify(message({ resource_external_id: id, event_details: "DETAILS" })).replace(
    '"DETAILS"',
    () => `{"gateway_account_id":"${account}",${details}}`,
  );

async function store(id: string, details: string, account = "57"): Promise<void> {
  await ledger.sendText(messageWith(id, details, account));
  await ledger.until(`/v1/transaction/${encodeURIComponent(id)}?account_id=${account}`, {
    transaction_id: id,
  });
}

/** JSON without the spaces between its parts that the database writes. */
const compact = (text: string) => text.replaceAll(/([:,]) /g, "$1");

describe("numbers keep their digits from the queue to every response", () => {
  const numbers = [
    "9007199254740993",
    "-9007199254740993",
    "12345678901234567890",
    "0.12345678901234567890123",
    "123456789012345678901234567890.5",
    "1000000000000000000000000",
    "3.141592653589793",
    "9007199254740991",
    "0.1",
    "-7",
    "0",
    "10.0",
    "0.0",
    "-1.50",
  ];

  test("in metadata", async () => {
    const members = numbers.map((number, index) => `"key ${index}":${number}`).join();
    await store("metadata", `"external_metadata":{${members}}`, "58");
    const list = "/v1/transaction/metadata/event?gateway_account_id=58&extended=true";
    const [event] = (await ledger.get(list)).events;
    for (const path of ["/v1/transaction/metadata?account_id=58", list, `/v1/event/${event.event_id}`]) {
      const { text } = await ledger.request(path);
      for (const [index, number] of numbers.entries())
        expect(compact(text)).toMatch(new RegExp(`"key ${index}":${number}[,}]`));
    }
    const csv = await ledger.request("/v1/transaction?account_id=58", { headers: { accept: "text/csv" } });
    const [header = "", line = ""] = csv.text.split("\n");
    const cells = Object.fromEntries(header.split(",").map((name, index) => [name, line.split(",")[index]]));
    // A number with a minus sign is escaped, since it could be read as a formula.
    for (const [index, number] of numbers.entries())
      expect(cells[`key ${index} (metadata)`]).toBe(number.startsWith("-") ? `'${number}` : number);
  });

  test("in a search filter", async () => {
    for (const number of numbers) {
      await store(number, `"reference":${number},"external_metadata":{"order":${number}}`);
      const query = `exact_reference_match=true&reference=${number}&metadata_value=${number}`;
      const { results } = await ledger.get(`/v1/transaction?account_id=57&${query}`);
      expect(results).toMatchObject([{ transaction_id: number, reference: number }]);
    }
  });

  test("at any depth, in any notation", async () => {
    await store("deep", `"anything":[{"a":[9007199254740993,1e3,1.50,2E+20,12e-2,{"b":-0.0}]}]`);
    const { text, json } = await ledger.request("/v1/transaction/deep/event?gateway_account_id=57");
    const [{ data }] = json.events;
    expect(data.anything[0].a.slice(1)).toEqual([1000, 1.5, 2e20, 0.12, { b: 0 }]);
    expect(compact(text)).toContain('"a":[9007199254740993,');
  });

  test("while digits in a string stay as they are", async () => {
    const text = ': 12345678901234567890, [0.12345678901234567890] \\" : 1e9';
    await store("texts", `"description":"${text}","external_metadata":{"${text}":"${text}"}`);
    const { json } = await ledger.request("/v1/transaction/texts?account_id=57");
    expect(json.description).toBe(JSON.parse(`"${text}"`));
    expect(json.metadata).toEqual({ [JSON.parse(`"${text}"`)]: JSON.parse(`"${text}"`) });
  });
});

describe("limits of numbers", () => {
  const tooLong = "a number has more than 100 digits without an exponent";
  test.each([
    ["above the largest double", '"nested":{"a":[1e400]}', tooLong],
    ["that is the largest double", '"external_metadata":{"order":1.7976931348623157e+308}', tooLong],
    ["below the smallest double", '"nested":{"a":[1e-400]}', tooLong],
    ["with an exponent of 21 digits", '"nested":-1E+100000000000000000000', tooLong],
    ["of 101 digits", `"external_metadata":{"order":${"9".repeat(101)}}`, tooLong],
    ["of 101 decimal places", `"external_metadata":{"order":0.${"0".repeat(100)}1}`, tooLong],
    ["of 900,000 digits", `"external_metadata":{"order":0.${"0".repeat(900_000)}1}`, tooLong],
    [
      "of pence with a fraction",
      '"amount":4250.00000000000000000001',
      "event_details/amount must be an integer",
      "/event_details/amount",
    ],
    [
      "of pence above 2^53",
      '"fee":9007199254740993',
      "event_details/fee must be at most 9007199254740991",
      "/event_details/fee",
    ],
  ])("a number %s makes its message invalid", (title, details, reason, pointer?: string) => {
    const read = readMessage(messageWith(title, details), pounds);
    const faults = pointer === undefined ? [] : [{ pointer, rule: expect.any(Object), detail: reason }];
    expect(read).toEqual({ kind: "invalid", reason, faults, place: "" });
  });

  test("a number of 100 digits is kept", async () => {
    const longest = ["9".repeat(100), `-0.${"1".repeat(99)}`, `1${"0".repeat(99)}`];
    await store("longest", `"external_metadata":{"order":[${longest}, 1e99, 1e-99]}`);
    const { text } = await ledger.request("/v1/transaction/longest?account_id=57");
    expect(compact(text)).toContain(`"order":[${longest},1${"0".repeat(99)},0.${"0".repeat(98)}1]`);
  });
});
