import { once } from "node:events";
import type { Server } from "node:http";
import { parse } from "csv-parse/sync";
import { request } from "undici";
import { beforeAll, describe, expect, test } from "vitest";
import contract from "../../generated/ledger.json" with { type: "json" };
import { childStory, story } from "../../testing/messages.ts";
import { openLog } from "../process/log.ts";
import { countingDatabase, ledgerOfFile, openApp, payment } from "./ledger.fixture.ts";

const transactions = [
  story(
    "payment",
    "paid",
    [
      "09:14:22.999999",
      "PAYMENT_CREATED",
      {
        amount: 123_450,
        reference: "=1+1",
        description: 'a "b", c',
        payment_provider: "stripe",
        external_metadata: { zone: "@north", branch: 7 },
      },
    ],
    [
      "09:15",
      "PAYMENT_DETAILS_ENTERED",
      {
        email: "e@example.org",
        cardholder_name: "Å\nN",
        card_brand: "visa",
        card_brand_label: "Visa",
        card_type: "DEBIT",
        expiry_date: "11/29",
        last_digits_card_number: "4242",
        gateway_transaction_id: "-gtx",
        wallet: "APPLE_PAY",
        corporate_surcharge: 5,
        total_amount: 123_455,
        moto: true,
        requires_3ds: true,
      },
    ],
    ["09:16", "CAPTURE_CONFIRMED"],
    [
      "09:17",
      "FEE_INCURRED",
      {
        fee: 60,
        net_amount: 123_395,
        fee_breakdown: [
          { fee_type: "transaction", amount: 45 },
          { fee_type: "radar", amount: 10 },
          { fee_type: "three_ds", amount: 5 },
          null,
        ],
      },
    ],
  ),
  story(
    "payment",
    "failed",
    [
      "10:00",
      "PAYMENT_CREATED",
      {
        amount: 1_234_567_890,
        net_amount: -7,
        reference: "\t=1",
        description: "\r=1",
        email: "a\rb",
        external_metadata: { branch: "old", extra: "é" },
      },
    ],
    ["10:01", "GATEWAY_ERROR_DURING_AUTHORISATION", { external_metadata: { branch: "new" } }],
  ),
  story(
    "payment",
    "started",
    ["10:30", "PAYMENT_CREATED", { amount: 5 }],
    ["10:31", "SOMETHING_UNKNOWN", { external_metadata: { later: 1 } }],
  ),
  childStory(
    "refund",
    "back",
    "paid",
    ["11:00", "REFUND_CREATED_BY_USER", { amount: 100, user_email: "+u@example.org" }],
    ["11:01", "REFUND_SUCCEEDED", { gateway_transaction_id: "re1" }],
  ),
  childStory("dispute", "won", "paid", ["12:00", "DISPUTE_WON", { amount: 50, fee: 15, net_amount: -65 }]),
  childStory("dispute", "lost", "paid", ["13:00", "DISPUTE_LOST", { amount: 50 }]),
  payment("other", { gateway_account_id: "58", external_metadata: { "=other": 1, branch: 1 } }),
  payment("plain", { gateway_account_id: "59" }),
];

const ledger = await ledgerOfFile();
await ledger.store(...transactions);
const { database } = ledger;

const search = (query: string, accept = "text/csv") =>
  ledger.request(`/v1/transaction?${query}`, { headers: { accept } });
/** Reads the CSV as RFC 4180: a record for each row, with the column names as keys. */
const readRows = async (query: string): Promise<Record<string, string>[]> =>
  parse((await search(query)).text, { columns: true });

describe("CSV", () => {
  test("has all columns, and more on request", async () => {
    const { status, headers, text } = await search("account_id=57&fee_headers=true&moto_header=true");
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="transactions.csv"',
      vary: "accept, accept-encoding",
    });
    expect(text.slice(0, text.indexOf("\n"))).toBe(
      "Reference,Description,Email,Amount,Card Brand,Cardholder Name,Card Expiry Date,Card Number,State,Finished," +
        "Error Code,Error Message,Provider ID,GOV.UK Payment ID,Issued By,Date Created,Time Created," +
        "Corporate Card Surcharge,Total Amount,Wallet Type,Fee,Net,Fee (transaction),Fee (3DS)," +
        "Fee (fraud protection),Card Type,MOTO,Payment Provider,3-D Secure Required,branch (metadata)," +
        "extra (metadata),later (metadata),zone (metadata)",
    );
    expect(text.endsWith("\n")).toBe(true);
    const columns = async (query: string) => (parse((await search(query)).text) as string[][])[0]?.length;
    expect(await columns("account_id=59")).toBe(23);
    expect(await columns("account_id=59&fee_headers=true")).toBe(28);
    expect(await columns("account_id=59&moto_header=true")).toBe(24);
    expect(await columns("account_id=58,59")).toBe(25);
    expect(await columns("account_id=57,58")).toBe(28);
    expect((await search("account_id=58")).text).toContain(",'=other (metadata),branch (metadata)\n");
  });

  test("shows payments, refunds and disputes, with amounts in pounds and escaped formulas", async () => {
    const rows = await readRows("account_id=57&fee_headers=true&moto_header=true");
    const card = {
      Reference: "'=1+1",
      Description: 'a "b", c',
      Email: "e@example.org",
      "Card Brand": "Visa",
      "Cardholder Name": "Å\nN",
      "Card Expiry Date": "11/29",
      "Card Number": "4242",
      "GOV.UK Payment ID": "paid",
      "Date Created": "05 Mar 2024",
      "Wallet Type": "Apple Pay",
      "Card Type": "debit",
    };
    const empty = Object.fromEntries(Object.keys(rows[0] ?? {}).map((name) => [name, ""]));
    const [lost, won, refund, started, failed, paid] = rows;
    expect(rows).toHaveLength(6);
    expect(paid).toEqual({
      ...empty,
      ...card,
      Amount: "1,234.50",
      State: "Success",
      Finished: "true",
      "Provider ID": "'-gtx",
      "Time Created": "09:14:22",
      "Corporate Card Surcharge": "0.05",
      "Total Amount": "1,234.55",
      Fee: "0.60",
      Net: "1,233.95",
      "Fee (transaction)": "0.45",
      "Fee (3DS)": "0.05",
      "Fee (fraud protection)": "0.10",
      MOTO: "true",
      "Payment Provider": "stripe",
      "3-D Secure Required": "true",
      "branch (metadata)": "7",
      "zone (metadata)": "'@north",
    });
    expect(refund).toEqual({
      ...empty,
      ...card,
      Amount: "-1.00",
      State: "Refund success",
      Finished: "true",
      "Provider ID": "re1",
      "Issued By": "'+u@example.org",
      "Time Created": "11:00:00",
      "Total Amount": "-1.00",
      Net: "-1.00",
    });
    expect(won).toEqual({
      ...empty,
      ...card,
      Amount: "0.50",
      State: "Dispute won in your favour",
      Finished: "true",
      "Time Created": "12:00:00",
      Fee: "0.15",
      Net: "-0.65",
    });
    expect(lost).toMatchObject({ Amount: "-0.50", State: "Dispute lost to customer", Fee: "", Net: "" });
    expect(failed).toMatchObject({
      State: "Error",
      "Error Code": "P0050",
      "Error Message": "Payment provider returned an error",
      Reference: "'\t=1",
      Description: "'\r=1",
      Email: "a\rb",
      Amount: "12,345,678.90",
      "Total Amount": "0.00",
      "Corporate Card Surcharge": "0.00",
      Net: "-0.07",
      "branch (metadata)": "new",
      "extra (metadata)": "",
      MOTO: "false",
    });
    expect(started).toMatchObject({
      State: "In progress",
      Finished: "false",
      "Total Amount": "",
      Amount: "0.05",
      Net: "0.00",
    });
    expect((await search("account_id=57")).text).toContain(`"'\r=1","a\rb"`);
  });

  test("has the columns of the contract, in the same order", async () => {
    const account = "columns";
    const keys = [
      "KEY",
      ...Array.from({ length: 100 }, (_, index) => `KEY ${String(index).padStart(2, "0")}`),
    ];
    const external_metadata = Object.fromEntries(keys.map((key, index) => [key, index]));
    const details = { gateway_account_id: account, external_metadata };
    await ledger.store(story("payment", "payment-of-columns", ["10:00", "PAYMENT_CREATED", details]));
    const { text } = await search(`account_id=${account}&fee_headers=true&moto_header=true`);
    const [header, row] = parse(text) as [string[], string[]];
    // The columns of the other keys are like that of KEY.
    const others = keys.slice(1, 100).map((key) => `${key} (metadata)`);
    const shown = header.filter((name) => !others.includes(name));
    expect(shown).toEqual(contract["x-csv"].columns.rows.map(({ column }) => column));
    expect(header.slice(-101)).toEqual(["KEY (metadata)", ...others, "Other metadata"]);
    expect(row.at(-1)).toBe('{"KEY 99":100}');
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

  const states: [type: "payment" | "refund" | "dispute", eventType: string, name: string, code: string][] = [
    ["payment", "PAYMENT_DETAILS_ENTERED", "", ""],
    ["payment", "PAYMENT_CREATED", "In progress", ""],
    ["payment", "PAYMENT_STARTED", "In progress", ""],
    ["payment", "AUTHORISATION_SUCCEEDED", "In progress", ""],
    ["payment", "USER_APPROVED_FOR_CAPTURE_AWAITING_SERVICE_APPROVAL", "In progress", ""],
    ["payment", "CAPTURE_CONFIRMED", "Success", ""],
    ["payment", "AUTHORISATION_REJECTED", "Declined", "P0010"],
    ["payment", "PAYMENT_EXPIRED", "Timed out", "P0020"],
    ["payment", "CANCELLED_BY_USER", "Cancelled", "P0030"],
    ["payment", "CANCELLED_BY_EXTERNAL_SERVICE", "Cancelled", "P0040"],
    ["payment", "CAPTURE_ERRORED", "Error", "P0050"],
    ["payment", "PAYMENT_STATUS_CORRECTED_TO_ERROR_BY_ADMIN", "Error", "P0050"],
    ["refund", "REFUND_SUBMITTED", "Refund submitted", ""],
    ["refund", "REFUND_SUCCEEDED", "Refund success", ""],
    ["refund", "REFUND_ERROR", "Refund error", "P0050"],
    ["dispute", "DISPUTE_CREATED", "Dispute awaiting evidence", ""],
    ["dispute", "DISPUTE_EVIDENCE_SUBMITTED", "Dispute under review", ""],
    ["dispute", "DISPUTE_LOST", "Dispute lost to customer", ""],
    ["dispute", "DISPUTE_WON", "Dispute won in your favour", ""],
  ];
  test("shows the state of a transaction, with its error code", async () => {
    const details = { gateway_account_id: "states" };
    await ledger.store(
      ...states.map(([type, eventType]) =>
        story(type, `${type} ${eventType}`, ["10:00", eventType, { ...details, reference: eventType }]),
      ),
    );
    const rows = await readRows("account_id=states");
    const shown = rows.map((row) => [row.Reference, row.State, row["Error Code"]]);
    expect(shown.toSorted()).toEqual(states.map(([, ...others]) => others).toSorted());
  });

  test.each([
    "account_id=57",
    "account_id=57,58",
    "account_id=57&state=success",
    "account_id=57&reference=%3D1&refund_states=success&dispute_states=won",
    "account_id=57&metadata_value=new",
    "account_id=57&display_size=1&page=9&limit_total=true&limit_total_size=1",
    "account_id=none",
  ])("has the same rows as JSON: %s", async (query) => {
    const filters = query.replace(/&display_size.*/, "");
    const { results } = (await ledger.request(`/v1/transaction?${filters}`)).json;
    const expected = results.map(
      (row: { transaction_id: string; parent_transaction_id?: string; created_date: string }) => [
        row.parent_transaction_id ?? row.transaction_id,
        row.created_date.slice(11, 19),
      ],
    );
    const rows = await readRows(query);
    expect(rows.map((row) => [row["GOV.UK Payment ID"], row["Time Created"]])).toEqual(expected);
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
    ["", 400, "account_id is mandatory to search transactions for CSV"],
    ["override_account_id_restriction=true", 400, "account_id is mandatory to search transactions for CSV"],
    [
      "account_id=57&from_date=x",
      400,
      "query parameter from_date must be an instant with a UTC offset, such as 2024-03-05T09:14:22Z",
    ],
    ["account_id=57&state=failed", 400, expect.stringContaining("with status_version 2")],
  ])("has the errors of JSON: %s returns %i", async (query, status, text) => {
    const response = await search(query);
    expect(response.status).toBe(status);
    expect(response.headers["content-type"]).toContain("application/problem+json");
    expect(response.json.message).toEqual([text]);
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
