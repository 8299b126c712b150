import { parse as parseCsv } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { message } from "../../../testing/messages.ts";
import { ledgerOfFile, payment } from "./ledger.fixture.ts";

const dinar = { code: "KWD", digits: 3 };
const ledger = await ledgerOfFile({ currency: dinar, eventWrites: true });
const { get, request } = ledger;
await ledger.store(
  payment("pay1", { amount: 1_234_567, currency: "KWD" }),
  payment("pay2", { amount: 1, currency: "kwd" }),
  payment("pay3", { amount: 2, currency: null }),
);
const rowsOf = async (path: string): Promise<Record<string, string>[]> =>
  parseCsv((await request(path)).text, { columns: true });

describe("the currency of a ledger", () => {
  test("is in its contract", async () => {
    const shown = { code: "KWD", decimals: 3, description: expect.any(String) };
    const { text } = await request("/openapi.yaml");
    for (const contract of [await get("/openapi.json"), parse(text)]) {
      expect(contract["x-currency"]).toEqual(shown);
      expect(contract.info.summary).toContain("the minor unit of KWD, which has 3 decimals");
    }
    expect((await request("/docs")).text).toContain("<td>KWD</td><td>3</td>");
  });

  test("is in the report, and on its console", async () => {
    expect((await get("/v1/report/transactions?account_id=57")).currency).toBe("KWD");
    const page = await request("/console", { headers: { accept: "text/html" } });
    expect(page.text).toContain('data-currency="{&quot;code&quot;:&quot;KWD&quot;,&quot;digits&quot;:3}"');
  });

  test("decides the decimals of the CSV, which has a column for it on request", async () => {
    const search = "/v1/transaction?account_id=57&format=csv";
    const shown = (await rowsOf(search)).map((row) => [row.Amount, row.Currency]);
    expect(shown.sort()).toEqual([
      ["0.001", undefined],
      ["0.002", undefined],
      ["1,234.567", undefined],
    ]);
    expect((await rowsOf(`${search}&currency_header=true`)).map((row) => row.Currency)).toEqual(
      Array(3).fill("KWD"),
    );
    const report = "/v1/report/transactions?account_id=57&format=csv";
    const [sums] = await rowsOf(`${report}&currency_header=true`);
    expect(sums).toMatchObject({ amount: "1234570", currency: "KWD" });
    expect(Object.keys((await rowsOf(report))[0] ?? {})).not.toContain("currency");
  });
});

describe("an event", () => {
  const inEuros = message({ resource_external_id: "foreign", event_details: { amount: 5, currency: "EUR" } });
  const detail = "event_details/currency must be KWD, the currency of all amounts of this ledger";

  test("in another currency becomes a dead letter that says so", async () => {
    await ledger.send(inEuros);
    await ledger.until("/v1/dead-letter?display_size=1", { dead_letters: [{ reason: detail }] });
    const [{ dead_letter_id }] = (await get("/v1/dead-letter?display_size=1")).dead_letters;
    expect((await get(`/v1/dead-letter/${dead_letter_id}`)).replay).toEqual({
      outcome: "dead_letter",
      reason: detail,
      errors: [{ pointer: "/event_details/currency", rule: { const: "KWD" }, detail }],
    });
  });

  test("in another currency is rejected in a request", async () => {
    const { status, json } = await request("/v1/event", {
      method: "POST",
      body: JSON.stringify([inEuros]),
      headers: { "content-type": "application/json" },
    });
    expect([status, json.errors]).toEqual([
      400,
      [expect.objectContaining({ pointer: "/0/event_details/currency", rule: { const: "KWD" } })],
    ]);
  });

  test("whose currency is no code is invalid", async () => {
    await ledger.send(message({ resource_external_id: "odd", event_details: { currency: 5 } }));
    await ledger.until("/v1/dead-letter?display_size=1", {
      dead_letters: [{ reason: expect.stringContaining("event_details/currency") }],
    });
  });
});
