import { afterEach, beforeEach, expect, test } from "vitest";
import { message } from "../../testing/messages.ts";
import { startLedger } from "./ledger.fixture.ts";

let ledger: Awaited<ReturnType<typeof startLedger>>;
beforeEach(async () => {
  ledger = await startLedger();
});
afterEach(() => ledger[Symbol.asyncDispose]());

/** The value of a series, by its name with its labels; undefined when there is none. */
async function readSeries(series: string): Promise<number | undefined> {
  const { text } = await ledger.ask("/metrics");
  const line = text.split("\n").find((line) => line.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
}

test("requests are counted by operation and status, with how long they took", async () => {
  const counted = (operation: string, status: number) =>
    readSeries(`http_request_duration_seconds_count{operation="${operation}",status="${status}"}`);
  expect(await counted("getEvent", 404)).toBeUndefined();
  await ledger.ask("/v1/event/999");
  await ledger.ask("/v1/event/999");
  await ledger.ask("/v1/event/nine");
  await ledger.ask("/nowhere");
  await ledger.ask("/openapi.json");
  expect(await counted("getEvent", 404)).toBe(2);
  expect(await counted("getEvent", 400)).toBe(1);
  expect(await counted("none", 404)).toBe(1);
  expect(await counted("none", 200)).toBe(1);
  const seconds = await readSeries('http_request_duration_seconds_sum{operation="getEvent",status="404"}');
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThan(10);
});

test("messages are counted by what became of them, with their batches and how late they were", async () => {
  await ledger.tell([message({ resource_external_id: "one" }), message({ resource_external_id: "two" })]);
  await ledger.send(message({ resource_external_id: "one", reproject_domain_object: true }));
  await ledger.sendText("{", "[]", "nonsense");
  const outcomes = async () => ({
    stored: await readSeries('ledger_messages_total{outcome="stored"}'),
    folded: await readSeries('ledger_messages_total{outcome="rebuilt"}'),
    parked: await readSeries('ledger_messages_total{outcome="dead_letter"}'),
    nowParked: await readSeries("ledger_dead_letters"),
  });
  await expect.poll(outcomes).toEqual({ stored: 2, folded: 1, parked: 3, nowParked: 3 });
  expect(await readSeries("ledger_batch_messages_sum")).toBe(6);
  expect(await readSeries("ledger_ingest_lag_seconds_count")).toBe(6);
  expect(await readSeries('ledger_ingest_lag_seconds_bucket{le="10"}')).toBe(6);
  expect(await readSeries("ledger_oldest_in_flight_message_seconds")).toBe(0);
});

test("an event that is stored already is a duplicate, in the same batch or in a later one", async () => {
  const counted = async (outcome: string) =>
    (await readSeries(`ledger_messages_total{outcome="${outcome}"}`)) ?? 0;
  const [stored, duplicates] = [await counted("stored"), await counted("duplicate")];
  const again = message({ resource_external_id: "again" });
  await ledger.send(again, again, message({ resource_external_id: "again", event_type: "PAYMENT_STARTED" }));
  await expect.poll(() => counted("stored")).toBe(stored + 2);
  expect(await counted("duplicate")).toBe(duplicates + 1);
  await ledger.send(again, again, message({ resource_external_id: "again", event_details: { other: 1 } }));
  await expect.poll(() => counted("duplicate")).toBe(duplicates + 4);
  expect(await counted("stored")).toBe(stored + 2);
});

test("a message that is put back is counted, and waits", async () => {
  await ledger.database.run("alter table event rename to event_away");
  await ledger.send(message({ resource_external_id: "three" }));
  await expect.poll(() => readSeries('ledger_messages_total{outcome="retried"}')).toBeGreaterThan(0);
  await ledger.database.run("alter table event_away rename to event");
  await ledger.until("/v1/transaction/three?account_id=57", { transaction_id: "three" });
  expect(await readSeries("ledger_queue_messages_waiting")).toBe(0);
});

test.runIf(process.env.TEST_DATABASE === "postgres")("connections are counted by what they do", async () => {
  const connections = (pool: string, state: string) =>
    readSeries(`ledger_database_connections{database="DATABASE_URL",pool="${pool}",state="${state}"}`);
  const [busy = 0, idle = 0] = [await connections("limited", "busy"), await connections("limited", "idle")];
  expect(busy + idle).toBeGreaterThan(0);
  await ledger.database.transaction(async () => {
    expect(await connections("unlimited", "busy")).toBeGreaterThan(0);
  });
});
