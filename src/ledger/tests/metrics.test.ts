import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { message } from "../../../testing/messages.ts";
import { openLog } from "../../process/log.ts";
import { pounds } from "../../values/currency.ts";
import { ledgerService } from "../app.ts";
import { openIntake } from "../intake/intake.ts";
import { watchUnknownEventTypes } from "../intake/unknown-event-types.ts";
import type { NewEvent } from "../tables/event.ts";
import { ledgerOfFile } from "./ledger.fixture.ts";

const ledger = await ledgerOfFile();

/** Reads the value of a series, given by its name and labels. Undefined if there is none. */
async function readSeries(series: string): Promise<number | undefined> {
  const { text } = await ledger.request("/metrics");
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
}

/** Returns a function that resolves with what was added to these series since now. */
async function changesOf<Name extends string>(series: Record<Name, string>) {
  const read = async () => {
    const values = await Promise.all(Object.values<string>(series).map(readSeries));
    return values.map((value) => value ?? 0);
  };
  const before = await read();
  return async () => {
    const changes = (await read()).map((value, index) => value - (before[index] ?? 0));
    return Object.fromEntries(Object.keys(series).map((name, index) => [name, changes[index]]));
  };
}
const destinations = ["lookup", "report", "feed"];
const outcome = (name: string) => `ledger_messages_total{outcome="${name}"}`;

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
});

test("every outcome exists from the start, with the version and the metrics of the process", async () => {
  const registry = new Registry();
  openIntake(ledger.database, pounds, registry, openLog("silent"));
  const text = await registry.metrics();
  for (const name of ["stored", "duplicate", "rebuilt", "dead_letter", "retried"])
    expect(text).toContain(`\n${outcome(name)} 0\n`);
  const { version } = ledgerService.contract.info;
  expect(await readSeries(`service_build_info{service="Payment ledger",version="${version}"}`)).toBe(1);
  expect(await readSeries("process_resident_memory_bytes")).toBeGreaterThan(2 ** 20);
  await expect.poll(() => readSeries("nodejs_eventloop_lag_p99_seconds")).toBeGreaterThan(0);
});

test("messages are counted by outcome, with batch sizes and ingest lag", async () => {
  // The feed can have the events of other tests later.
  const arrivedAt = (destination: string) =>
    readSeries(`ledger_visible_seconds_count{destination="${destination}"}`);
  await expect.poll(async () => (await arrivedAt("feed")) === (await arrivedAt("lookup"))).toBe(true);
  const changes = await changesOf({
    stored: outcome("stored"),
    rebuilt: outcome("rebuilt"),
    deadLetters: outcome("dead_letter"),
    deadLetterRows: 'ledger_dead_letters{scope="shared"}',
    batched: "ledger_batch_messages_sum",
    lags: "ledger_ingest_lag_seconds_count",
    ...Object.fromEntries(
      destinations.map((name) => [name, `ledger_visible_seconds_count{destination="${name}"}`]),
    ),
  });
  await ledger.store([message({ resource_external_id: "one" }), message({ resource_external_id: "two" })]);
  await ledger.send(message({ resource_external_id: "one", reproject_domain_object: true }));
  await ledger.sendText("{", "[]", "nonsense");
  const expected = {
    stored: 2,
    rebuilt: 1,
    deadLetters: 3,
    deadLetterRows: 3,
    batched: 6,
    lags: 6,
    lookup: 2,
    report: 2,
    feed: 2,
  };
  await expect.poll(changes).toEqual(expected);
  await expect.poll(() => readSeries('ledger_oldest_in_flight_message_seconds{scope="process"}')).toBe(0);
});

test("an event that is already stored is a duplicate, in the same batch or a later one", async () => {
  const changes = await changesOf({ stored: outcome("stored"), duplicate: outcome("duplicate") });
  const members = { resource_external_id: "again" };
  const again = message(members);
  await ledger.send(again, again, message({ ...members, event_type: "PAYMENT_STARTED" }));
  await expect.poll(changes).toEqual({ stored: 2, duplicate: 1 });
  await ledger.send(again, again, message({ ...members, event_details: { other: 1 } }));
  await expect.poll(changes).toEqual({ stored: 2, duplicate: 4 });
});

test("a new event of a type that the contract does not list is counted, and its type is logged once", async () => {
  const changes = await changesOf({ count: "ledger_unknown_event_types_total" });
  const types = ["COLOUR_CHANGED", "FEE_INCURRED", "PAYMENT_STARTED", "AGREEMENT_SET_UP", "payment_created"];
  const events = types.map((event_type) => message({ resource_external_id: "typed", event_type }));
  await ledger.send(...events);
  await expect.poll(changes).toEqual({ count: 2 });
  await ledger.send(...events, message({ resource_external_id: "again", event_type: "COLOUR_CHANGED" }));
  await expect.poll(changes).toEqual({ count: 3 });
  const logged = ledger.logged.map((line) => JSON.parse(line)).filter(({ eventType }) => eventType);
  const msg = "stored an event of a type that the contract does not list";
  expect(logged).toMatchObject(
    ["COLOUR_CHANGED", "payment_created"].map((eventType) => ({ level: 40, eventType, msg })),
  );
});

test("the log has at most 1000 unknown event types, shortened and without control characters", async () => {
  const lines: string[] = [];
  const notice = watchUnknownEventTypes(
    new Registry(),
    openLog("warn", { write: (line) => lines.push(line) }),
  );
  const types = ["\u001b[31m\u0085", "x".repeat(255)];
  for (let index = types.length; index < 1100; index += 1) types.push(`TYPE_${index}`);
  notice(types.map((event_type) => ({ event_type }) as NewEvent));
  const logged = lines.map((line) => JSON.parse(line));
  expect(logged).toHaveLength(1001);
  expect(logged.slice(0, 2)).toMatchObject([
    { eventType: "\\u001b[31m\\u0085" },
    { eventType: "x".repeat(100) },
  ]);
  expect(logged.at(-1)).toMatchObject({ level: 40, msg: expect.stringContaining("are not logged") });
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
