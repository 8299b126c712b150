import { describe, expect, test } from "vitest";
import { listen } from "../../../testing/event-stream.ts";
import { eventually } from "../../../testing/eventually.ts";
import { childStory, message, type Step, story } from "../../../testing/messages.ts";
import type { Database } from "../../database/database.ts";
import { ledgerOfFile, openApp, payment } from "./ledger.fixture.ts";

const ledger = await ledgerOfFile({ eventWrites: true });

/** The service checks each response against the contract. */
describe("errors conform to the contract that quote", () => {
  test("a name that is as long as a body", async () => {
    const { event_type, ...others } = message({});
    const withName = (name: string) => JSON.stringify({ ...others, [name]: event_type });
    const name = `event_${"-".repeat(2 ** 20 - withName("event_type").length)}type`;
    const headers = { "content-type": "application/json" };
    const sent = { method: "POST", headers, body: withName(name) } as const;
    const { status, json } = await ledger.request("/v1/event", sent);
    const remedy = [{ op: "move", from: `/${name}`, path: "/event_type" }];
    expect([status, json.errors]).toMatchObject([400, [{ pointer: "/event_type", remedy }]]);
  });

  test("a name that is nearly as long as a request", async () => {
    const name = "~".repeat(16_000);
    const { status, json } = await ledger.request(`/v1/transaction/?${name}=1`);
    expect([status, json.errors]).toMatchObject([400, [{ parameter: name }]]);
  });
});

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

/** A service whose statements with the text `slow` wait until they are released, on a database with 10 connections. */
async function openHeld() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const counts = { running: 0, most: 0 };
  const within: Database["within"] = (limitMs) => {
    const sql = ledger.database.within(limitMs);
    return {
      ...sql,
      async query(...statement) {
        if (!JSON.stringify(statement).includes("slow")) return sql.query(...statement);
        counts.running += 1;
        counts.most = Math.max(counts.most, counts.running);
        await released;
        counts.running -= 1;
        return sql.query(...statement);
      },
    };
  };
  const api = await openApp({ database: { ...ledger.database, within, requestConnections: 10 } });
  return {
    base: await api.app.listen({ port: 0, host: "127.0.0.1" }),
    counts,
    release,
    statusOf: async (url: string, remoteAddress = "10.0.0.1") =>
      (await api.app.inject({ url, remoteAddress })).statusCode,
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

const search = "/v1/transaction?account_id=";
const quickRequests = [
  `${search}quick`,
  "/v1/transaction/quick?account_id=quick",
  "/v1/transaction/quick/event?gateway_account_id=quick",
];

test("slow requests of one account delay no other account of the caller, and too many of them get 503", async () => {
  await using held = await openHeld();
  await ledger.store(payment("quick", { gateway_account_id: "quick" }));
  const statuses: number[] = [];
  const all = Array.from({ length: 130 }, async () => statuses.push(await held.statusOf(`${search}slow`)));
  // Two run, and 100 wait.
  await eventually(() => {
    expect(held.counts.running).toBe(2);
    expect(statuses).toEqual(Array(28).fill(503));
  });
  for (const path of quickRequests) expect(await held.statusOf(path)).toBe(200);
  held.release();
  await Promise.all(all);
  expect(held.counts.most).toBe(2);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect(await held.statusOf(`${search}slow`)).toBe(200);
});

test("slow requests of one caller, whatever accounts they name, delay no other caller", async () => {
  await using held = await openHeld();
  await ledger.store(payment("quick", { gateway_account_id: "quick" }));
  const all = Array.from({ length: 100 }, (_, index) =>
    held.statusOf(index % 2 === 0 ? `${search}slow${index},quick` : `/v1/agreement?service_id=slow${index}`),
  );
  await eventually(() => expect(held.counts.running).toBe(4));
  for (const path of quickRequests) expect(await held.statusOf(path, "10.0.0.2")).toBe(200);
  const other = held.statusOf(`${search}slow`, "10.0.0.2");
  await eventually(() => expect(held.counts.running).toBe(5));
  held.release();
  expect(new Set(await Promise.all([other, ...all]))).toEqual(new Set([200]));
});

test("no account or service takes the place of the streams of events", async () => {
  await using held = await openHeld();
  const names = ["event streams", "purpose streams", "address 10.0.0.2"];
  const all = Array.from({ length: 100 }, (_, index) =>
    held.statusOf(`${search}${encodeURIComponent(names[index % names.length] as string)}&reference=slow`),
  );
  await eventually(() => expect(held.counts.running).toBe(4));
  const stream = await listen(held.base, "/v1/event?cursor=newest");
  await ledger.store(payment("streamed", { gateway_account_id: "57" }));
  await eventually(() => expect(stream.text()).toContain("streamed"));
  stream.stop();
  held.release();
  expect(new Set(await Promise.all(all))).toEqual(new Set([200]));
});
