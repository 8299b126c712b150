import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { childStory, story } from "../../../testing/messages.ts";
import { run } from "../../../testing/run.ts";
import { detailsMembers } from "../../contract/contracts.ts";
import { openDatabase } from "../../database/databases.ts";
import { describeOnEngines } from "../../database/new-database.fixture.ts";
import { verify } from "../intake/verify.ts";
import { startLedger } from "./ledger.fixture.ts";

const personal = Object.entries(detailsMembers).flatMap(([name, schema]) =>
  schema["x-personal-data"] && name !== "external_metadata" ? [name] : [],
);

/** A value of each member with personal data, and of members that the contract does not have. All begin with the mark. */
const personalDetails = (mark: string) => ({
  ...Object.fromEntries([...personal, "undeclared"].map((name) => [name, `${mark}-${name}`])),
  external_metadata: { note: `${mark}-metadata`, count: 7, none: null },
});

const payment = (id: string, mark: string, details: object = {}) =>
  story(
    "payment",
    id,
    [
      "09:00",
      "PAYMENT_CREATED",
      { amount: 4250, fee: 20, ...personalDetails(mark), ...details },
      { extra: `${mark}-extra` },
    ],
    ["09:05", "PAYMENT_DETAILS_ENTERED", { ...personalDetails(mark), card_brand: "visa" }],
    ["09:10", "CAPTURE_CONFIRMED", { gateway_payout_id: "payout1", net_amount: 4230 }],
  );
const refund = (id: string, parent: string, mark: string) =>
  childStory("refund", id, parent, [
    "10:00",
    "REFUND_CREATED_BY_USER",
    { amount: 50, ...personalDetails(mark) },
  ]);
const agreement = (id: string, mark: string) => [
  ...story("agreement", id, ["08:00", "AGREEMENT_CREATED", personalDetails(mark)]),
  ...story("agreement", id, ["08:30", "AGREEMENT_CANCELLED_BY_USER", personalDetails(mark)]),
];
const instrument = (id: string, agreementId: string, mark: string) =>
  story("payment_instrument", id, [
    "08:10",
    "PAYMENT_INSTRUMENT_CREATED",
    { agreement_external_id: agreementId, ...personalDetails(mark) },
  ]);
const payout = (id: string, mark: string) => [
  ...story("payout", id, ["11:00", "PAYOUT_CREATED", { amount: 4230, ...personalDetails(mark) }]),
  ...story("payout", id, ["11:30", "PAYOUT_PAID", { paid_out_date: "2024-03-06T00:00:00.000000Z" }]),
];

describeOnEngines("redaction", (make) => {
  /** A ledger and the command on its database. */
  async function open() {
    const stack = new AsyncDisposableStack();
    const made = stack.use(await make());
    const ledger = stack.use(await startLedger({ open: () => openDatabase(made.url) }));
    return {
      ...ledger,
      redact: (...args: string[]) =>
        run("src/ledger/commands/redact.ts", { args, env: { DATABASE_URL: made.url, QUEUE_URL: "memory:" } })
          .exit,
      /** The rows of all tables, as text, that contain the mark. */
      async rowsWith(mark: string) {
        const tables = await ledger.database.query<{ name: string }>(
          "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
        );
        const found = [];
        for (const { name } of tables) {
          const text = name === "dead_letter" ? "own::text || encode(body, 'escape')" : "own::text";
          const rows = await ledger.database.query<{ row: string }>(
            `select ${text} as row from ${name} as own where lower(${text}) like '%' || lower($1) || '%'`,
            [mark],
          );
          found.push(...rows.map(({ row }) => `${name}: ${row}`));
        }
        return found;
      },
      [Symbol.asyncDispose]: async () => {
        await ledger[Symbol.asyncDispose]();
        await stack.disposeAsync();
      },
    };
  }
  const newMark = () => `mark${randomUUID().replaceAll("-", "")}`;

  test("erases the personal data of a payment and its refunds wherever it was shown", async () => {
    await using ledger = await open();
    const mark = newMark();
    await ledger.store(payment("pay1", mark), refund("ref1", "pay1", mark), payment("other", "kept"));
    const shown = [
      "/v1/transaction/pay1?account_id=57",
      "/v1/transaction/ref1?account_id=57",
      "/v1/transaction?account_id=57",
      "/v1/transaction?account_id=57&reference=kept",
      "/v1/transaction/pay1?account_id=57&as_of=2024-03-05T09:06:00Z",
      "/v1/transaction/pay1/event?gateway_account_id=57",
      "/v1/transaction/pay1/event?gateway_account_id=57&include_all_events=true",
      "/v1/transaction/pay1/transaction?gateway_account_id=57",
    ];
    const before = await Promise.all(shown.map((path) => ledger.get(path)));
    expect(JSON.stringify(before)).toContain(mark);
    const redacted = await ledger.redact("pay1", "--reason", "request 7");
    expect(
      await ledger.database.query(
        "select operation, subject, resource_ids, status, reason from access_record",
      ),
    ).toEqual([
      {
        ...{ operation: "command redact", subject: "command", resource_ids: ["pay1"], status: 202 },
        reason: "request 7",
      },
    ]);
    expect(redacted).toMatchObject({
      code: 0,
      errors: "",
      output: expect.stringContaining("redacted 2 resources\n"),
    });
    const after = await Promise.all(shown.map((path) => ledger.get(path)));
    // The same members have the same values, but the personal ones.
    const masked = JSON.stringify(before).replaceAll(new RegExp(`${mark}-\\w+`, "g"), "<REDACTED>");
    expect(JSON.parse(masked.replaceAll('"count":7', '"count":"<REDACTED>"'))).toEqual(
      JSON.parse(JSON.stringify(after).replaceAll('"count":7', '"count":"<REDACTED>"')),
    );
    expect(JSON.stringify(after)).not.toContain(mark);
    for (const query of [
      `reference=${mark}`,
      `email=${mark}`,
      `cardholder_name=${mark}`,
      "reference=redacted",
      `metadata_value=${mark}-metadata`,
    ]) {
      expect([query, (await ledger.get(`/v1/transaction?account_id=57&${query}`)).results]).toEqual([
        query,
        [],
      ]);
    }
    const csv = await ledger.request("/v1/transaction?account_id=57", { headers: { accept: "text/csv" } });
    expect(csv.text).toContain("REDACTED");
    expect(csv.text).not.toContain(mark);
    expect((await ledger.request("/v1/event")).text).not.toContain(mark);
    expect(await ledger.rowsWith(mark)).toEqual([]);
    expect(await verify(ledger.database, ["pay1", "ref1", "other"])).toEqual([]);
  });

  test("erases it at positions and from reports as of the past, which keep their amounts", async () => {
    await using ledger = await open();
    const mark = newMark();
    await ledger.store(payment("pay1", mark), payment("other", "kept"), payout("payout1", mark));
    const at = (await ledger.request("/v1/transaction?account_id=57")).headers["ledger-position"];
    await ledger.store(refund("ref1", "pay1", mark));
    const paths = [
      `/v1/report/transactions-summary?account_id=57&from_date=2024-03-01T00:00:00Z&to_date=2024-04-01T00:00:00Z&known_at=${at}`,
      "/v1/report/transactions-summary?account_id=57&from_date=2024-03-01T00:00:00Z&to_date=2024-04-01T00:00:00Z",
      `/v1/transaction?account_id=57&known_at=${at}`,
      "/v1/payout?gateway_account_id=57",
    ];
    const before = await Promise.all(paths.map((path) => ledger.get(path)));
    expect(await ledger.redact("pay1", "payout1")).toMatchObject({ code: 0, errors: "" });
    const after = await Promise.all(paths.map((path) => ledger.get(path)));
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    expect(after[3]).toEqual(before[3]);
    expect(JSON.stringify(after)).not.toContain(mark);
    expect(await ledger.get(`/v1/transaction?account_id=57&known_at=${at}&email=${mark}`)).toMatchObject({
      total: 0,
    });
    expect(await ledger.rowsWith(mark)).toEqual([]);
  });

  test("an event that arrives later, or again, is stored without personal data", async () => {
    await using ledger = await open();
    const [mark, later] = [newMark(), newMark()];
    await ledger.store(payment("pay1", mark), refund("ref1", "unknown", mark));
    expect(await ledger.redact("pay1")).toMatchObject({ code: 0, errors: "" });
    await ledger.send(...payment("pay1", mark));
    await ledger.send(
      ...story("payment", "pay1", ["12:00", "USER_EMAIL_COLLECTED", personalDetails(later)]),
      // The first refund that arrives, and one of which an earlier event did not name the payment.
      ...refund("ref2", "pay1", later),
      ...childStory("refund", "ref1", "pay1", ["13:00", "REFUND_SUCCEEDED", personalDetails(later)]),
    );
    await ledger.until("/v1/transaction/ref1?account_id=57", { state: { status: "success" } });
    expect(await ledger.rowsWith(mark)).toEqual([]);
    expect(await ledger.rowsWith(later)).toEqual([]);
    expect(await ledger.get("/v1/transaction/pay1?account_id=57")).toMatchObject({
      email: "<REDACTED>",
      amount: 4250,
      metadata: { note: "<REDACTED>", none: null },
    });
    expect(await verify(ledger.database, ["pay1", "ref1", "ref2"])).toEqual([]);
  });

  test("redacts the instruments of an agreement", async () => {
    await using ledger = await open();
    const mark = newMark();
    await ledger.store(agreement("agr1", mark), instrument("card1", "agr1", mark));
    expect(await ledger.redact("agr1")).toMatchObject({ code: 0, errors: "" });
    const found = await ledger.get("/v1/agreement/agr1?account_id=57");
    expect(found).toMatchObject({
      reference: "<REDACTED>",
      user_identifier: "<REDACTED>",
      cancelled_by_user_email: "<REDACTED>",
      payment_instrument: { card_details: { cardholder_name: "<REDACTED>" } },
    });
    expect((await ledger.get("/v1/agreement?account_id=57&reference=redacted")).total).toBe(0);
    const later = newMark();
    await ledger.send(...instrument("card2", "agr1", later));
    await ledger.until("/v1/agreement/agr1?account_id=57", { payment_instrument: { external_id: "card1" } });
    await eventually(async () =>
      expect(await ledger.database.query("select from payment_instrument")).toHaveLength(2),
    );
    expect(await ledger.rowsWith(mark)).toEqual([]);
    expect(await ledger.rowsWith(later)).toEqual([]);
  });

  test("redacts dead letters, also those that are saved later", async () => {
    await using ledger = await open();
    const mark = newMark();
    await ledger.store(payment("pay1", mark));
    const invalid = (text: string) =>
      JSON.stringify({ ...payment("pay1", text)[0], event_type: `${text} ${"x".repeat(300)}` });
    const broken = (text: string) => `{"resource_external_id": "pa\\u00791", "email": "${text}"`;
    await ledger.sendText(
      invalid(mark),
      broken(mark),
      JSON.stringify({ ...payment("other", "kept")[0], event_type: 7 }),
    );
    const letters = async (count: number) =>
      await eventually(async () => {
        const rows = await ledger.database.query<{ text: string }>(
          "select convert_from(body, 'utf8') as text from dead_letter order by id",
        );
        expect(rows).toHaveLength(count);
        return rows.map(({ text }) => text);
      });
    await letters(3);
    const redacted = await ledger.redact("pay1");
    expect(redacted).toMatchObject({
      code: 0,
      errors: "",
      output: expect.stringContaining("redacted 2 dead letters\n"),
    });
    const later = newMark();
    await ledger.sendText(invalid(later), broken(later));
    const texts = await letters(5);
    expect(texts.join()).not.toMatch(new RegExp(`${mark}|${later}`));
    expect(texts.filter((text) => text.includes("kept"))).toHaveLength(1);
    expect(texts.filter((text) => text === "<REDACTED>")).toHaveLength(2);
    const events = texts.filter((text) => text.includes('"pay1"'));
    expect(events).toHaveLength(2);
    expect(JSON.parse(events[0] as string)).toMatchObject({
      resource_external_id: "pay1",
      extra: "<REDACTED>",
      event_details: {
        amount: 4250,
        email: "<REDACTED>",
        undeclared: "<REDACTED>",
        external_metadata: { none: null },
      },
    });
  });

  test("redacts resources by their age, with their families, and goes on after a stop", async () => {
    await using ledger = await open();
    const mark = newMark();
    const today = new Date().toISOString().replace("Z", "000Z");
    await ledger.store(
      payment("old1", mark),
      payment("old2", mark, { gateway_account_id: "58" }),
      refund("oldRefund", "old1", mark),
      payment("active", "kept"),
      refund("newRefund", "active", "kept").map((message) => ({ ...message, timestamp: today })),
      agreement("inUse", "kept"),
      payment("ofAgreement", "kept", { agreement_id: "inUse" }).map((message) => ({
        ...message,
        timestamp: today,
      })),
    );
    const dry = await ledger.redact("--older-than", "1y", "--dry-run");
    expect([dry.code, dry.output]).toEqual([0, "would redact 3 resources\n"]);
    expect((await ledger.rowsWith(mark)).length).toBeGreaterThan(0);
    const ofAccount = await ledger.redact("--older-than", "1y", "--account", "58");
    expect(ofAccount.output).toContain("redacted 1 resources\n");
    const redacted = await ledger.redact("--older-than", "12mo");
    expect(redacted.output).toContain("redacted 2 resources\n");
    expect(await ledger.rowsWith(mark)).toEqual([]);
    expect((await ledger.rowsWith("kept-email")).length).toBeGreaterThan(0);
    expect((await ledger.redact("--older-than", "1y")).output).toContain("redacted 0 resources\n");
  });

  test("keeps the metadata if that is chosen, until it is redacted without that", async () => {
    await using ledger = await open();
    const mark = newMark();
    await ledger.store(payment("pay1", mark));
    await ledger.redact("pay1", "--keep-metadata");
    await ledger.send(...story("payment", "pay1", ["12:00", "USER_EMAIL_COLLECTED", personalDetails(mark)]));
    await ledger.until("/v1/transaction/pay1?account_id=57", {
      metadata: { note: `${mark}-metadata`, count: 7 },
    });
    const query = `/v1/transaction?account_id=57&metadata_value=${mark}-metadata`;
    expect((await ledger.get(query)).total).toBe(1);
    expect((await ledger.redact("pay1", "--keep-metadata")).output).toContain("redacted 0 resources\n");
    expect((await ledger.redact("pay1")).output).toContain("redacted 1 resources\n");
    expect(await ledger.rowsWith(mark)).toEqual([]);
    expect((await ledger.get(query)).total).toBe(0);
  });

  test("rejects what it cannot redact", async () => {
    await using ledger = await open();
    await ledger.store(payment("pay1", "kept"));
    const errorOf = async (...args: string[]) => {
      const { code, errors } = await ledger.redact(...args);
      return [code, errors.split("\n")[0]];
    };
    expect(await errorOf("pay1", "nobody")).toEqual([
      1,
      "redact: no event has the id nobody; --unknown redacts it nevertheless",
    ]);
    expect(await errorOf()).toEqual([2, "redact: expected ID..., --older-than AGE or --rewrite"]);
    expect(await errorOf("pay1", "--older-than", "1y")).toEqual([
      2,
      "redact: expected ID... or --older-than, not both",
    ]);
    expect(await errorOf("--older-than", "1 year")).toEqual([
      2,
      "redact: 1 year is no age such as 7y, 18mo or 90d",
    ]);
    expect(await errorOf("pay1", "--account", "57")).toEqual([2, "redact: --account requires --older-than"]);
    expect((await ledger.rowsWith("kept-email")).length).toBeGreaterThan(0);
    const later = newMark();
    expect((await ledger.redact("nobody", "--unknown")).output).toContain("redacted 1 resources\n");
    await ledger.store(payment("nobody", later));
    expect(await ledger.rowsWith(later)).toEqual([]);
  });

  test("shows the members that the contract has without x-personal-data", async () => {
    await using ledger = await open();
    const [row] = await ledger.database.query<{ names: string[] }>("select shown_members() as names");
    const expected = Object.keys(detailsMembers).filter((name) => !detailsMembers[name]?.["x-personal-data"]);
    expect(row?.names.toSorted()).toEqual(expected.toSorted());
  });
});
