import { once } from "node:events";
import type { Server } from "node:http";
import { parse } from "csv-parse/sync";
import { request } from "undici";
import { beforeAll, describe, expect, test } from "vitest";
import contract from "../../../generated/ledger.json" with { type: "json" };
import { childStory, story } from "../../../testing/messages.ts";
import { openLog } from "../../process/log.ts";
import { countingDatabase, ledgerOfFile, openApp, payment } from "./ledger.fixture.ts";

// The cells of every transaction are in `model.test.ts`.

const ledger = await ledgerOfFile();
const { database } = ledger;
await ledger.store(
  payment("paid", { reference: "=1+1", external_metadata: { zone: "@north", "=other": 7 } }),
  payment("failed", { reference: "\r=1", email: "a\rb" }, ["10:01", "PAYMENT_EXPIRED"]),
  childStory("refund", "back", "paid", ["11:00", "REFUND_SUCCEEDED", { amount: 123_450 }]),
  payment("plain", { gateway_account_id: "59" }),
);

const search = (query: string, accept = "text/csv") =>
  ledger.request(`/v1/transaction?${query}`, { headers: { accept } });
/** Reads the CSV as RFC 4180: a record for each row, with the column names as keys. */
const readRows = async (query: string): Promise<Record<string, string>[]> =>
  parse((await search(query)).text, { columns: true });

describe("CSV", () => {
  test("has more columns on request", async () => {
    const { status, headers, text } = await search("account_id=57&fee_headers=true&moto_header=true");
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="transactions.csv"',
      vary: "accept, accept-encoding",
    });
    expect(text).toMatch(/^Reference,.*,3-D Secure Required,'=other \(metadata\),zone \(metadata\)\n/);
    expect(text).toContain(`"'\r'=1",,"a\rb"`);
    expect(text.endsWith("\n")).toBe(true);
    const columns = async (query: string) => (parse((await search(query)).text) as string[][])[0]?.length;
    expect(await columns("account_id=59")).toBe(23);
    expect(await columns("account_id=59&fee_headers=true")).toBe(28);
    expect(await columns("account_id=59&moto_header=true")).toBe(24);
    expect(await columns("account_id=57,59")).toBe(25);
  });

  test("shows amounts in pounds, and the details of the payment of a refund", async () => {
    expect((await readRows("account_id=57"))[0]).toMatchObject({
      Reference: "'=1+1",
      Amount: "-1,234.50",
      State: "Refund success",
      "GOV.UK Payment ID": "paid",
      "Date Created": "05 Mar 2024",
      "Time Created": "11:00:00",
    });
  });

  test("has no cell or header that a spreadsheet reads as a formula", async () => {
    const formulaStarts = [..."=+-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20"];
    const account = "=formulas";
    const members = [
      ...["reference", "description", "email", "card_brand_label", "cardholder_name", "expiry_date"],
      ...["last_digits_card_number", "gateway_transaction_id", "payment_provider", "wallet"],
    ];
    await ledger.store(
      ...formulaStarts.map((start, index) =>
        payment(`${start}${index}`, {
          gateway_account_id: account,
          ...Object.fromEntries(members.map((name) => [name, `${start}1`])),
          external_metadata: { [`${start}key`]: `${start}1`, [`a${start}key`]: `a${start}1` },
        }),
      ),
    );
    const { text } = await search(`account_id=${encodeURIComponent(account)}`);
    const cells: string[] = parse(text).flat();
    expect(cells.filter((cell) => formulaStarts.some((start) => cell.startsWith(start)))).toEqual([]);
    for (const start of formulaStarts) {
      expect(cells.filter((cell) => cell === `'${start}1`).length).toBeGreaterThanOrEqual(10);
      expect(cells).toContain(`'${start}key (metadata)`);
      expect(cells).toContain(`a${start}1`);
    }
  });

  test("has no formula for a spreadsheet that takes semicolons or tabs for separators", async () => {
    const account = "separators";
    const harmful = [
      "x;=1+1",
      "x\t=1+1",
      'x;"=1+1',
      "x\n=1+1",
      "x\r\n@a",
      "a;b;-1;+1",
      ";=",
      "\t=1",
      "x;\uFF1D1",
    ];
    const plain = ["x;1", "a; b", "a\tb", "x;y=1", "a-b@c", "x,=1", "a\nb", "it's;'=1"];
    const texts = [...harmful, ...plain];
    await ledger.store(
      ...texts.map((reference, index) =>
        payment(`separated${index}`, { gateway_account_id: account, reference }),
      ),
    );
    const { text } = await search(`account_id=${account}`);
    const cells: string[] = parse(text).flat();
    for (const one of plain) expect(cells).toContain(one);
    for (const one of [
      "x;'=1+1",
      "x\t'=1+1",
      `x;"'=1+1`,
      "x\n'=1+1",
      "x\r\n'@a",
      "a;b;'-1;'+1",
      ";'=",
      "'\t'=1",
    ])
      expect(cells).toContain(one);
    // A cell, as a spreadsheet sees it that does not know the quotes.
    const seen = text.split(/[;\t\r\n]/).map((cell) => cell.replace(/^"+/, ""));
    expect(seen.filter((cell) => /^[=+\-@\uFF1D]/.test(cell))).toEqual([]);
  });

  test("has the chosen columns in the chosen order, each of x-csv by its name", async () => {
    const { columns, chosen_columns } = contract["x-csv"];
    const names = [...columns.rows, ...chosen_columns.rows].map(({ column }) => column);
    const known = contract.components.schemas.CsvColumn["x-pattern-description"];
    const fixed = names.filter((name) => name !== "KEY (metadata)");
    expect(known).toBe(`one of ${fixed.join(", ")} or KEY (metadata), without a comma`);
    const query = (chosen: string[]) => `account_id=57&columns=${encodeURIComponent(chosen.join())}`;
    const header = async (chosen: string[]) => parse((await search(query(chosen))).text)[0];
    expect(await header(names)).toEqual(names);
    expect(await header(names.toReversed())).toEqual(names.toReversed());
    const ofDefault = (await search("account_id=59")).text.split("\n")[0]?.split(",");
    expect(ofDefault).toEqual(names.filter((name) => ofDefault?.includes(name)));
  });

  test("has cells that only chosen columns show", async () => {
    await ledger.store(
      story("payout", "po1", [
        "12:00",
        "PAYOUT_PAID",
        { gateway_account_id: "chosen", paid_out_date: "2024-03-11T00:30:00Z" },
      ]),
      payment(
        "settled",
        {
          gateway_account_id: "chosen",
          gateway_payout_id: "po1",
          fee: 5,
          external_metadata: { zone: "n", a: 1 },
        },
        ["11:00", "CAPTURE_CONFIRMED", {}, { live: true }],
      ),
      childStory("refund", "returned", "settled", [
        "12:00",
        "REFUND_SUCCEEDED",
        { gateway_account_id: "chosen" },
      ]),
    );
    const chosen =
      "Transaction ID,GOV.UK Payment ID,Type,Account,Live,Payout,Settled Date,Fee,MOTO,Currency,zone (metadata),none (metadata),Other metadata";
    const { text } = await search(`account_id=chosen&columns=${chosen}&fee_headers=true`);
    expect(text).toBe(
      `${chosen}\nreturned,settled,Refund,chosen,,,,,,GBP,,,\nsettled,settled,Payment,chosen,true,po1,11 Mar 2024,0.05,false,GBP,n,,"{""a"":1}"\n`,
    );
  });

  test.each([
    ["comma", ","],
    ["semicolon", ";"],
    ["tab", "\t"],
  ])("has the same cells with the separator %s", async (separator, delimiter) => {
    const account_id = `cells ${separator}`;
    const texts = ["plain", "a;b", "a,b", "a\tb", 'a"b', "a\nb", "x;=1", "-1", ""];
    await ledger.store(
      ...texts.map((description, index) =>
        payment(`${separator}${index}`, {
          gateway_account_id: account_id,
          amount: 123_456,
          reference: String(index),
          description,
        }),
      ),
    );
    const query = `account_id=${account_id}&columns=Reference,Description,Amount`;
    const sent = await request(
      `${ledger.base}/v1/transaction?format=csv&${query}&separator=${separator}&byte_order_mark=true`,
    );
    const bytes = Buffer.from(await sent.body.arrayBuffer());
    expect(bytes.subarray(0, 6)).toEqual(Buffer.from("\uFEFFRef"));
    const text = bytes.toString();
    const rows: string[][] = parse(text, { delimiter, bom: true });
    const expected: string[][] = parse((await search(query)).text);
    expect(rows).toEqual(expected);
    expect(rows.find(([reference]) => reference === "6")).toEqual(["6", "x;'=1", "1,234.56"]);
    const unquoted = separator === "comma" ? '"1,234.56"' : "1,234.56";
    expect(text).toContain(`0${delimiter}plain${delimiter}${unquoted}\n`);
  });

  test("has the transactions of all accounts, with their metadata in one column", async () => {
    const { status, text } = await search("override_account_id_restriction=true");
    expect(status).toBe(200);
    expect(text).toMatch(/,3-D Secure Required,Other metadata\n/);
    const rows: Record<string, string>[] = parse(text, { columns: true });
    const rowOf = (id: string) =>
      rows.find((row) => row["GOV.UK Payment ID"] === id && !row.State?.startsWith("Refund"));
    expect(rowOf("plain")).toMatchObject({ "Other metadata": "" });
    expect(rowOf("paid")).toMatchObject({ "Other metadata": '{"zone":"@north","=other":7}' });
    expect(await readRows("override_account_id_restriction=true&account_id=59")).toHaveLength(1);
  });

  test("has all rows, whatever the page and the limit of the total", async () => {
    const rows = await readRows("account_id=57&display_size=1&page=9&limit_total=true&limit_total_size=1");
    expect(rows).toHaveLength(3);
    expect(await readRows("account_id=none")).toEqual([]);
  });

  test.each([
    ["text/csv", "text/csv"],
    ["text/csv, application/json;q=0.9", "text/csv"],
    ["text/*", "text/csv"],
    ["application/json, text/csv", "application/json"],
    ["text/csv;q=0.5, */*", "application/json"],
    ["*/*", "application/json"],
    ["image/png", "application/json"],
    ["", "application/json"],
  ])("is selected by the header Accept: %j gives %s", async (accept, type) => {
    expect((await search("account_id=57", accept)).headers["content-type"]).toBe(`${type}; charset=utf-8`);
  });

  test.each([
    ["", "account_id is mandatory to search transactions for CSV"],
    ["override_account_id_restriction=false", "account_id is mandatory to search transactions for CSV"],
    [
      "account_id=57&columns=Reference,Referenz",
      expect.stringMatching(/columns\/1 must be one of Reference, Desc.* or KEY \(metadata\)/),
    ],
    ["account_id=57&columns=reference", expect.stringContaining("columns/0 must be one of")],
    ["account_id=57&columns= (metadata)", expect.stringContaining("columns/0 must be one of")],
    ["account_id=57&columns=Net,Net", expect.stringContaining("columns must not repeat")],
    ["account_id=57&separator=pipe", "query parameter separator must be one of comma, semicolon or tab"],
    ["account_id=57&byte_order_mark=maybe", "query parameter byte_order_mark must be true or false"],
    ["account_id=57&state=failed", expect.stringContaining("with status_version 2")],
  ])("has the errors of JSON: %s", async (query, message) => {
    const { status, headers, json } = await search(query);
    expect([status, headers["content-type"]]).toEqual([400, "application/problem+json; charset=utf-8"]);
    expect(json.message).toEqual([message]);
  });

  test("has up to 200 chosen columns", async () => {
    const keys = Array.from({ length: 1000 }, (_, n) => `k${n} (metadata)`);
    const { status, text } = await search(`account_id=57&columns=${keys.slice(0, 200)}`);
    expect([status, parse(text)[0]]).toEqual([200, keys.slice(0, 200)]);
    const { json } = await ledger.request("/v1/transaction", {
      method: "QUERY",
      headers: { accept: "text/csv", "content-type": "application/json" },
      body: JSON.stringify({ account_id: ["57"], columns: keys }),
    });
    expect(json.message).toEqual(["body/columns must have at most 200 elements"]);
  });

  test("has no body with HEAD", async () => {
    const { status, headers, text } = await ledger.request("/v1/transaction?account_id=57", {
      method: "HEAD",
      headers: { accept: "text/csv" },
    });
    expect([status, text, headers["content-type"]]).toEqual([200, "", "text/csv; charset=utf-8"]);
  });
});

/** Resolves when the response to the next request is closed by either side. */
const nextResponseClosed = (server: Server) =>
  new Promise((resolve) => {
    server.once("request", (_request, response) => response.once("close", resolve));
  });

describe("a long export", () => {
  /** Of half a mebibyte each. */
  const pages = 30;
  const rowsPerPage = 10;
  const path = "/v1/transaction?account_id=long";
  const headers = { accept: "text/csv" };
  beforeAll(() =>
    database.query(
      `insert into transaction (external_id, transaction_type, gateway_account_id, state, created_date, event_count,
                                first_event_id, details)
       select 'long' || n, 'PAYMENT', 'long', 'CREATED', timestamptz '2024-01-01Z' + n / 3 * interval '1 second', 1, 0,
              jsonb_build_object('description', repeat('x', 53000))
       from generate_series(1, $1::int) as n`,
      [pages * rowsPerPage],
    ),
  );

  test("has each row once, in order, although transactions arrive meanwhile", async () => {
    const { body } = await request(ledger.base + path, { headers });
    const chunks: Buffer[] = [];
    for await (const chunk of body) {
      if (chunks.length === 0) {
        const [early] = payment("early", { gateway_account_id: "long" });
        const meanwhile = payment("meanwhile", { gateway_account_id: "long" });
        await ledger.store(meanwhile, [{ ...early, timestamp: "2000-01-01T00:00:00Z" }]);
      }
      chunks.push(chunk);
    }
    await database.run("delete from transaction where external_id in ('early', 'meanwhile')");
    const exported: Record<string, string>[] = parse(Buffer.concat(chunks), { columns: true });
    const expected = await database.query<{ external_id: string }>(
      `select external_id from transaction where gateway_account_id = 'long'
       order by created_date desc, external_id desc`,
    );
    expect(exported.map((row) => row["GOV.UK Payment ID"])).toEqual(
      expected.map(({ external_id }) => external_id),
    );
    expect(exported).toHaveLength(pages * rowsPerPage);
  });

  test("is read from the database as far as the client reads, and no further after a disconnect", async () => {
    const { counts, database: counting } = countingDatabase(database);
    await using api = await openApp({ database: counting });
    const base = await api.app.listen({ port: 0, host: "127.0.0.1" });
    /** The statements until another export is complete, which has all pages and the metadata keys. */
    async function statementsDuring(work: () => Promise<unknown>): Promise<number> {
      await work();
      expect((await api.app.inject({ url: path, headers })).payload.split("\n").length).toBeGreaterThan(
        pages,
      );
      const { statements } = counts;
      counts.statements = 0;
      return statements - (pages + 1);
    }
    expect((await request(base + path, { method: "HEAD", headers })).statusCode).toBe(200);
    const closed = nextResponseClosed(api.app.server);
    const { body } = await request(base + path, { headers });
    // Two are those of the request with HEAD, which reads no further page. Buffers of the connection hold some pages.
    expect(await statementsDuring(() => once(body, "readable"))).toBeLessThan(2 + (2 * pages) / 3);
    body.on("error", () => {}).destroy();
    const afterDisconnect = await statementsDuring(() => closed);
    // One can be in flight.
    expect(afterDisconnect).toBeLessThanOrEqual(1);
  });

  test("that fails closes its connection, and is logged, and one that its client aborts is not", async () => {
    const logged: string[] = [];
    const log = openLog("warn", { write: (line) => logged.push(line) });
    await using api = await openApp({ database, log });
    const base = await api.app.listen({ port: 0, host: "127.0.0.1" });
    const closed = nextResponseClosed(api.app.server);
    const aborted = await request(base + path, { headers });
    await once(aborted.body, "readable");
    aborted.body.on("error", () => {}).destroy();
    await closed;
    const { body, statusCode } = await request(base + path, { headers });
    expect(statusCode).toBe(200);
    await once(body, "readable");
    await database.query("alter table transaction rename to transaction_renamed");
    await expect(body.text()).rejects.toThrow();
    await database.query("alter table transaction_renamed rename to transaction");
    await expect
      .poll(() => logged.map((line) => JSON.parse(line)))
      .toEqual([expect.objectContaining({ level: 50, err: expect.objectContaining({ code: "42P01" }) })]);
  });
});
