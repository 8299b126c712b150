import { expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { message, story } from "../../../testing/messages.ts";
import type { Database } from "../../database/database.ts";
import { openLedgerDatabase } from "../tables/ledger-database.fixture.ts";
import { ledgerOfFile, payment, startLedger } from "./ledger.fixture.ts";

const ledger = await ledgerOfFile({ eventWrites: true });
const report = "/v1/report/transactions?account_id=57";

/** The position of a response. */
async function positionOf(path = report, own = ledger): Promise<string> {
  const { status, headers } = await own.request(path);
  expect([path, status, headers["ledger-position"]]).toEqual([path, 200, expect.any(String)]);
  return headers["ledger-position"] as string;
}

/** Records that everything until now was known at an instant. */
const recordInstant = (instant: string, own = ledger) =>
  own.database.query(
    `insert into instant_position select $1, (epoch << 40) + pg_snapshot_xmax(pg_current_snapshot())::text::bigint
     from event_feed_epoch`,
    [instant],
  );

test("a day means its end, in the time zone of the request, from the first day of the ledger on", async () => {
  await using own = await startLedger();
  await own.database.run("delete from instant_position");
  await recordInstant("2024-03-05T12:00:00Z", own);
  const stored = [];
  for (const [id, instant] of Object.entries({
    a: "2024-03-05T23:00:00Z",
    b: "2024-03-06T00:00:00Z",
    c: "2024-03-06T05:00:00Z",
  })) {
    await own.store(payment(id));
    await recordInstant(instant, own);
    stored.push(id);
  }
  const countAt = async (query: string) => (await own.get(`${report}&${query}`)).groups[0].count;
  expect(await countAt("known_at=2024-03-05")).toBe(2);
  expect(await countAt("known_at=2024-03-05&time_zone=Europe/Berlin")).toBe(1);
  expect(await countAt("known_at=2024-03-05&time_zone=America/New_York")).toBe(3);
  const { headers } = await own.request(`${report}&known_at=2024-03-05&format=csv`);
  expect(await countAt(`known_at=${headers["ledger-position"]}`)).toBe(2);
  expect(await own.getError(`${report}&known_at=2024-03-04`)).toEqual([
    400,
    "known_at must not be before 2024-03-05, which is the first day",
  ]);
  // Nothing is recorded since.
  const late = await own.request(`${report}&known_at=2024-03-06`);
  expect([late.status, late.headers["retry-after"], late.json.detail]).toEqual([
    503,
    "1",
    "the end of this day is not recorded yet; try again later",
  ]);
  expect(stored).toHaveLength(3);
});

const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
const unknown = "x".repeat(75);
test.each([
  [`known_at=${tomorrow}`, 400, `known_at must be a day that is over; ${tomorrow} is not in UTC`],
  ["known_at=2024-02-30", 400, "known_at must be a day that exists; 2024-02-30 does not"],
  ["known_at=0000-01-01", 400, "known_at must be a day that exists; 0000-01-01 does not"],
  ["known_at=9999-12-31", 400, "known_at must be a day that is over; 9999-12-31 is not in UTC"],
  ["known_at=yesterday", 400, "a day such as 2024-10-31"],
  [
    `known_at=${unknown}`,
    410,
    "the ledger has no such position; known_at must be a day, or the position or cursor",
  ],
  [`at_least=${unknown}`, 410, "the ledger has no such position; at_least must be the position or cursor"],
  ["at_least=%00", 400, "at_least"],
])("%s gets %i", async (query, status, detail) => {
  expect(await ledger.getError(`${report}&${query}`)).toEqual([status, expect.stringContaining(detail)]);
});

test("the cursor of an event that does not exist is unknown, as is a position that the ledger has not reached", async () => {
  const place = { sql_transaction: 1n, event_id: 999n, timestamp: "2024-03-05T10:00:00.000000Z" };
  const later = { before: 2n ** 39n, behind: "", event_id: null };
  for (const text of [ledger.cursors.feed.write(place), ledger.cursors.position.write(later)])
    for (const name of ["known_at", "at_least"])
      expect(await ledger.getError(`${report}&${name}=${text}`)).toEqual([
        410,
        expect.stringContaining("no such position"),
      ]);
});

test("a position before the first one gets 400, which names the first one", async () => {
  const [status, detail] = await ledger.getError(
    `${report}&known_at=${ledger.cursors.position.write({ before: 1n, behind: "", event_id: null })}`,
  );
  expect(status).toBe(400);
  const [, first] = /must not be before (\S+), the position of \S+, which is the first$/.exec(detail) ?? [];
  expect((await ledger.get(`${report}&known_at=${first}`)).groups[0].count).toBe(0);
});

test("a request can demand what another response included", async () => {
  const body = JSON.stringify(
    message({ resource_external_id: "written", event_details: { gateway_account_id: "57" } }),
  );
  const headers = { "content-type": "application/json" };
  const written = await ledger.request("/v1/event", { method: "POST", headers, body });
  // The feed can end before the event while an older SQL transaction is in flight.
  const cursor = await eventually(async () => {
    const { events } = await ledger.get("/v1/event?account_id=57");
    expect(events.at(-1)).toMatchObject({ resource_external_id: "written" });
    return events.at(-1).cursor;
  });
  for (const least of [written.headers["ledger-position"], cursor])
    for (const path of [
      report,
      "/v1/transaction/written?account_id=57",
      "/v1/event",
      "/v1/agreement?account_id=57",
    ])
      await positionOf(`${path}${path.includes("?") ? "&" : "?"}at_least=${least}`);
});

test("pages, a file of several pages and its last line have the position of the request, whatever is stored meanwhile", async () => {
  const ofMany = (id: number, ...steps: Parameters<typeof payment>[2][]) =>
    payment(`many${id}`, { gateway_account_id: "many", amount: 1 }, ...steps);
  await ledger.store(...Array.from({ length: 520 }, (_, id) => ofMany(id)));
  const path = "/v1/transaction?account_id=many";
  const csv = async (query: string) =>
    (await ledger.request(`${path}&format=csv&columns=Amount&${query}`)).text;
  const before = await csv("position_line=true");
  const [, position] = /\nLedger-Position,(\S+)\n$/.exec(before) ?? [];
  const later = Array.from(
    { length: 30 },
    (_, id) => ofMany(17 * id, ["11:00", "CAPTURE_CONFIRMED", { amount: 2 }])[1] as object,
  );
  await ledger.send(...later);
  await ledger.until("/v1/report/transactions?account_id=many", { groups: [{ count: 520, amount: 550 }] });
  expect(await csv(`position_line=true&known_at=${position}`)).toBe(before);
  expect(await csv("separator=semicolon")).not.toContain("Ledger-Position");
  expect((await ledger.request(`${path}&format=csv`)).headers["ledger-position"]).toBeUndefined();
  const pages = await ledger.pages(`${path}&display_size=200&known_at=${position}`, "next_page");
  const amounts = pages.flatMap(({ results }) => results).map(({ amount }: { amount: number }) => amount);
  expect([amounts.length, new Set(amounts)]).toEqual([520, new Set([1])]);
});

test("a search as of a position after which too many transactions have changed gets 400, and a narrower one does not", async () => {
  const path = "/v1/transaction?account_id=changed";
  await ledger.database.run(`
    insert into transaction (external_id, transaction_type, gateway_account_id, state, created_date, event_count, first_event_id, details)
    select 'changed' || n, 'PAYMENT', 'changed', 'SUCCESS', timestamptz '2024-03-05Z' + n * interval '1 minute', 1, n, '{}'
    from generate_series(1, 1001) as n`);
  const position = await positionOf(path);
  await ledger.database.run("update transaction set state = 'ERROR' where gateway_account_id = 'changed'");
  expect(await ledger.getError(`${path}&known_at=${position}`)).toEqual([
    400,
    "more than 1,000 transactions of this request have changed since its position; a shorter time between from_date and to_date, or fewer accounts, may succeed",
  ]);
  const { total } = await ledger.get(`${path}&known_at=${position}&to_date=2024-03-05T12:00:00Z`);
  expect(total).toBe(0);
  // A report reads no transactions.
  const inState = await ledger.get(
    `/v1/report/transactions?account_id=changed&group_by=state&known_at=${position}`,
  );
  expect(inState.groups).toMatchObject([{ state: "success", count: 1001 }]);
});

test("the changes of a report by state have those that bring a transaction into the states, and those that take it out", async () => {
  await using own = await startLedger();
  await own.store(story("payment", "pay1", ["09:00", "PAYMENT_CREATED", { amount: 100 }]));
  const since = await positionOf(report, own);
  await own.send(...story("payment", "pay1", ["10:00", "CAPTURE_CONFIRMED"]));
  await own.until("/v1/transaction/pay1?account_id=57", { state: { status: "success" } });
  const changesOf = async (query: string) => {
    const path = report.replace("transactions", "transactions/changes");
    const { groups, changes } = await own.get(`${path}&since=${since}&${query}`);
    return [{ groups }, ...changes].map((one) => one.groups.map(({ count }: { count: number }) => count));
  };
  for (const [query, counts] of [
    ["payment_states=created", [-1]],
    ["payment_states=success", [1]],
    ["state=created", [-1]],
    ["payment_states=created&from_date=2024-03-05T00:00:00Z&to_date=2024-03-06T00:00:00Z", [-1]],
    ["payment_states=created,success", []],
    ["payment_states=declined", []],
  ] as const)
    expect([query, await changesOf(query)]).toEqual([query, counts.length > 0 ? [counts, counts] : [[]]]);
  expect(await changesOf("group_by=state")).toEqual([
    [-1, 1],
    [-1, 1],
  ]);
});

test("a request gets its response though something changes before each of its statements", async () => {
  let change = async () => {};
  await using own = await startLedger({
    async open() {
      const database = await openLedgerDatabase();
      const within: Database["within"] = (limitMs) => {
        const { query, run, snapshot } = database.within(limitMs);
        return {
          run,
          query: async (...statement) => change().then(() => query(...statement)),
          snapshot: async (work) => change().then(() => snapshot(work)),
        };
      };
      return { ...database, within };
    },
  });
  await own.store(...Array.from({ length: 40 }, (_, id) => payment(`busy${id}`)));
  const path = "/v1/transaction?account_id=57&state=created";
  const position = await positionOf(path, own);
  let changed = 0;
  change = () =>
    own.database.run(`update transaction set state = 'ERROR' where external_id = 'busy${changed++}'`);
  // The page and the total are of one position.
  const { total, results } = await own.get(path);
  expect([total, results.length]).toEqual([total, total]);
  expect((await own.get(`${path}&known_at=${position}`)).total).toBe(40);
  expect(changed).toBeLessThan(40);
});
