import { afterEach, beforeEach, expect, test } from "vitest";
import { message } from "../../testing/messages.ts";
import { ledgerService } from "./app.ts";
import { startLedger } from "./ledger.fixture.ts";

let ledger: Awaited<ReturnType<typeof startLedger>>;
beforeEach(async () => {
  ledger = await startLedger();
});
afterEach(() => ledger[Symbol.asyncDispose]());

/** Reads the value of a series, given by its name and labels. Undefined if there is none. */
async function readSeries(series: string): Promise<number | undefined> {
  const { text } = await ledger.request("/metrics");
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
}

test("requests are counted by operation and status, with their durations", async () => {
  const counted = (operation: string, status: number) =>
    readSeries(`http_request_duration_seconds_count{operation="${operation}",status="${status}"}`);
  expect(await counted("getEvent", 404)).toBeUndefined();
  await ledger.request("/v1/event/999");
  await ledger.request("/v1/event/999");
  await ledger.request("/v1/event/nine");
  await ledger.request("/nowhere");
  await ledger.request("/openapi.json");
  expect(await counted("getEvent", 404)).toBe(2);
  expect(await counted("getEvent", 400)).toBe(1);
  expect(await counted("none", 404)).toBe(1);
  expect(await counted("none", 200)).toBe(1);
  const seconds = await readSeries('http_request_duration_seconds_sum{operation="getEvent",status="404"}');
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThan(10);
});

test("every outcome exists from the start, with the version and the metrics of the process", async () => {
  for (const outcome of ["stored", "duplicate", "rebuilt", "dead_letter", "retried"])
    expect(await readSeries(`ledger_messages_total{outcome="${outcome}"}`)).toBe(0);
  const { version } = ledgerService.contract.info;
  expect(await readSeries(`service_build_info{service="Payment ledger",version="${version}"}`)).toBe(1);
  expect(await readSeries("process_resident_memory_bytes")).toBeGreaterThan(2 ** 20);
  await expect.poll(() => readSeries("nodejs_eventloop_lag_p99_seconds")).toBeGreaterThan(0);
});

test("messages are counted by outcome, with batch sizes and ingest lag", async () => {
  await ledger.store([message({ resource_external_id: "one" }), message({ resource_external_id: "two" })]);
  await ledger.send(message({ resource_external_id: "one", reproject_domain_object: true }));
  await ledger.sendText("{", "[]", "nonsense");
  const outcomes = async () => ({
    stored: await readSeries('ledger_messages_total{outcome="stored"}'),
    rebuilt: await readSeries('ledger_messages_total{outcome="rebuilt"}'),
    deadLetters: await readSeries('ledger_messages_total{outcome="dead_letter"}'),
    deadLetterRows: await readSeries('ledger_dead_letters{scope="shared"}'),
  });
  await expect.poll(outcomes).toEqual({ stored: 2, rebuilt: 1, deadLetters: 3, deadLetterRows: 3 });
  expect(await readSeries("ledger_batch_messages_sum")).toBe(6);
  expect(await readSeries("ledger_ingest_lag_seconds_count")).toBe(6);
  expect(await readSeries('ledger_ingest_lag_seconds_bucket{le="10"}')).toBe(6);
  expect(await readSeries('ledger_oldest_in_flight_message_seconds{scope="process"}')).toBe(0);
});

test("an event that is already stored is a duplicate, in the same batch or a later one", async () => {
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

test("a new event of a type that the contract does not list is counted, and its type is logged once", async () => {
  const count = () => readSeries("ledger_unknown_event_types_total");
  expect(await count()).toBe(0);
  const types = ["COLOUR_CHANGED", "FEE_INCURRED", "PAYMENT_STARTED", "AGREEMENT_SET_UP", "payment_created"];
  const events = types.map((event_type) => message({ resource_external_id: "typed", event_type }));
  await ledger.send(...events);
  await expect.poll(count).toBe(2);
  await ledger.send(...events, message({ resource_external_id: "again", event_type: "COLOUR_CHANGED" }));
  await expect.poll(count).toBe(3);
  expect(ledger.logged.map((line) => JSON.parse(line))).toEqual(
    ["COLOUR_CHANGED", "payment_created"].map((eventType) =>
      expect.objectContaining({
        level: 40,
        eventType,
        msg: "stored an event of a type that the contract does not list",
      }),
    ),
  );
});

test("the log has at most 1000 unknown event types, shortened and without control characters", async () => {
  const types = ["\u001b[31m\u0085", "x".repeat(255)];
  for (let index = types.length; index < 1100; index += 1) types.push(`TYPE_${index}`);
  const events = types.map((event_type) => message({ resource_external_id: "many", event_type }));
  await ledger.send(...events);
  await expect.poll(() => readSeries("ledger_unknown_event_types_total")).toBe(1100);
  const lines = ledger.logged.map((line) => JSON.parse(line));
  expect(lines).toHaveLength(1001);
  const logged = lines.map(({ eventType }) => eventType);
  expect(logged).toContain("\\u001b[31m\\u0085");
  expect(logged).toContain("x".repeat(100));
  expect(lines.at(-1)).toMatchObject({ level: 40, msg: expect.stringContaining("are not logged") });
});

test("a retried message is counted, and none waits once it is stored", async () => {
  await ledger.database.run("alter table event rename to event_renamed");
  await ledger.send(message({ resource_external_id: "three" }));
  await expect.poll(() => readSeries('ledger_messages_total{outcome="retried"}')).toBeGreaterThan(0);
  await ledger.database.run("alter table event_renamed rename to event");
  await ledger.until("/v1/transaction/three?account_id=57", { transaction_id: "three" });
  expect(await readSeries('ledger_queue_messages_waiting{scope="shared"}')).toBe(0);
});

test.runIf(process.env.TEST_DATABASE === "postgres")(
  "connections are counted by pool and state",
  async () => {
    const connections = (pool: string, state: string) =>
      readSeries(
        `ledger_database_connections{scope="process",database="DATABASE_URL",pool="${pool}",state="${state}"}`,
      );
    const [busy = 0, idle = 0] = [
      await connections("requests", "busy"),
      await connections("requests", "idle"),
    ];
    expect(busy + idle).toBeGreaterThan(0);
    await ledger.database.transaction(async () => {
      expect(await connections("receiver", "busy")).toBeGreaterThan(0);
    });
  },
);
