import { describe, expect, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { childStory, message, type Step, story } from "../../testing/messages.ts";
import type { Database } from "../database/database.ts";
import { ledgerOfFile, openApp, payment } from "./ledger.fixture.ts";

const ledger = await ledgerOfFile();

describe("a message beyond a limit becomes a dead letter, and those before it stay:", () => {
  /** Waits for a dead letter with this reason. */
  const deadLetter = (reason: string) =>
    eventually(async () => {
      const rows = await ledger.database.query<{ reason: string }>("select reason from dead_letter");
      expect(rows.map((row) => row.reason)).toContain(reason);
    });

  test("1,000 members and elements of a message", async () => {
    const keys = Array.from({ length: 1000 }, (_, index) => [`key${index}`, index]);
    const withKeys = (id: string, count: number) =>
      message({
        resource_external_id: id,
        event_details: { external_metadata: Object.fromEntries(keys.slice(0, count)) },
      });
    await ledger.store([withKeys("900 keys", 900)]);
    await ledger.send(withKeys("1,000 keys", 1000), message({ event_details: { list: keys } }));
    await deadLetter("the message has more than 1,000 members and elements");
  });

  test("2 MiB of details of one transaction, whatever the number of its events", async () => {
    const part = (n: number): Step => [`10:0${n}`, "DETAILS", { [`part${n}`]: "x".repeat(900_000) }];
    await ledger.store(story("payment", "large", ["10:00", "PAYMENT_CREATED"], part(1), part(2)));
    await ledger.send(...story("payment", "large", part(3)));
    await deadLetter("the details of all events of the resource would be larger than 2 MiB together");
    // Another event still fits.
    await ledger.send(...story("payment", "large", ["10:04", "DETAILS", { reference: "newer" }]));
    await ledger.until("/v1/transaction/large?account_id=57", { reference: "newer" });
  });

  test("500 refunds and disputes of a payment", async () => {
    const refund = (id: string) => childStory("refund", id, "parent", ["10:00", "REFUND_SUBMITTED"]);
    await ledger.store(story("payment", "parent", ["09:00", "PAYMENT_CREATED"]), refund("first"));
    await ledger.database.run(`
      insert into transaction (external_id, transaction_type, parent_external_id, gateway_account_id, state, created_date,
        event_count, first_event_id, details)
      select 'child' || n, 'REFUND', 'parent', '57', 'SUBMITTED', '2024-03-05T10:00:00Z', 1, 1, '{}'
      from generate_series(1, 498) as n`);
    await ledger.store(refund("last"));
    await ledger.send(...refund("one too many"));
    await deadLetter("the parent would have more than 500 refunds and disputes");
    await ledger.send(...childStory("refund", "last", "parent", ["10:01", "REFUND_SUCCEEDED"]));
    await ledger.until("/v1/transaction/last?account_id=57", {
      state: { status: "success", finished: true },
    });
  });
});

test("slow requests of one account do not delay those of another, and too many of them get 503", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let running = 0;
  const within: Database["within"] = (limitMs) => {
    const sql = ledger.database.within(limitMs);
    return {
      ...sql,
      async query(...statement) {
        if (JSON.stringify(statement[1]).includes("slow")) {
          running += 1;
          await released;
        }
        return sql.query(...statement);
      },
    };
  };
  await using api = await openApp({ database: { ...ledger.database, within } });
  const statusOf = async (path: string) => (await api.app.inject(path)).statusCode;
  await ledger.store(payment("quick", { gateway_account_id: "quick" }));
  const search = "/v1/transaction?account_id=";
  const statuses: number[] = [];
  const all = Array.from({ length: 150 }, async () => statuses.push(await statusOf(`${search}slow`)));
  // Some run, and 100 wait. Each request has two statements.
  await eventually(() => {
    expect(running).toBeGreaterThan(0);
    expect(statuses.length).toBeGreaterThan(20);
  });
  expect(new Set(statuses)).toEqual(new Set([503]));
  for (const path of [
    `${search}quick`,
    "/v1/transaction/quick?account_id=quick",
    "/v1/transaction/quick/event?gateway_account_id=quick",
  ])
    expect(await statusOf(path)).toBe(200);
  release();
  await Promise.all(all);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect(await statusOf(`${search}slow`)).toBe(200);
});
