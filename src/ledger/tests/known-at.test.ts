import { expect, test } from "vitest";
import { eventKey, generateMessages, type LedgerEvent } from "../../../simulation/ledger/messages.ts";
import { Oracle } from "../../../simulation/ledger/oracle.ts";
import { allReads, type Read, randomReportRead } from "../../../simulation/ledger/reads.ts";
import { eventually } from "../../../testing/eventually.ts";
import { seeded } from "../../../testing/random.ts";
import { mergeSummaryChanges } from "../tables/summary/upkeep.ts";
import { ledgerOfFile, startLedger } from "./ledger.fixture.ts";

const random = seeded(Number(process.env.SEED ?? 58));
const ledger = await ledgerOfFile({ limits: { batchSize: 20 } });

const canBePast = /^\/v1\/(transaction|report|payout)/;

/** The path, with another parameter. */
const withParameter = (path: string, name: string, value: string) =>
  `${path}${path.includes("?") ? "&" : "?"}${name}=${encodeURIComponent(value)}`;

/** The response without what differs between two requests with other parameters: links, and random cursors in them. */
const comparable = ({ status, text }: { status: number; text: string }) => ({
  status,
  text: text.replaceAll(
    /"(next_cursor|self|first_page|last_page|prev_page|next_page)":\{"href":"[^"]*"\}/g,
    '"$1":{}',
  ),
});

test("a response that was taken at a position is the response to the same request with known_at, whatever is stored later", async () => {
  const generator = generateMessages(random.fork());
  const messages = Array.from({ length: 40 }, () => generator.next().value ?? []).flat();
  const sent = random
    .shuffle([...messages, ...random.sample(messages, 0.1)])
    .filter(({ kind }) => kind !== "invalid");
  const taken: { path: string; accept: string; position: string; response: ReturnType<typeof comparable> }[] =
    [];
  const parts = 5;
  for (let part = 1; part <= parts; part += 1) {
    const upTo = (some: number) => Math.floor((some / parts) * sent.length);
    await ledger.sendText(...sent.slice(upTo(part - 1), upTo(part)).map(({ body }) => body));
    const events = sent
      .slice(0, upTo(part))
      .flatMap((message) => (message.kind === "event" ? message.event : []));
    const oracle = new Oracle(events);
    await eventually(async () =>
      expect(await ledger.database.query("select from event")).toHaveLength(oracle.events.length),
    );
    await mergeSummaryChanges(ledger.database, random.pick([1, 30, 100_000]));
    const reads = [
      ...allReads({ oracle, payments: () => 40 }, random),
      ...Array.from({ length: 100 }, () => randomReportRead(random)),
    ];
    for (const read of random.sample(reads, 0.4)) {
      await read.send(async (path, accept = "application/json") => {
        const response = await ledger.request(path, { headers: { accept } });
        const position = response.headers["ledger-position"];
        if (canBePast.test(path) && response.status === 200) {
          if (!path.includes("gateway-transaction"))
            expect([path, position]).toEqual([path, expect.any(String)]);
          if (!/cursor=|gateway-transaction/.test(path))
            taken.push({ path, accept, position: position as string, response: comparable(response) });
        }
        return response;
      });
    }
  }
  await mergeSummaryChanges(ledger.database, 100_000);
  const differing: object[] = [];
  for (const { path, accept, position, response } of taken) {
    const then = await ledger.request(withParameter(path, "known_at", position), { headers: { accept } });
    const found = { ...comparable(then), position: then.headers["ledger-position"] };
    const expected = { ...response, position };
    const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
    if (one === other) continue;
    const first = Array.from(one).findIndex((character, index) => character !== other[index]);
    differing.push({
      path,
      found: one.slice(first - 40, first + 60),
      expected: other.slice(first - 40, first + 60),
    });
  }
  expect({
    differing: differing.slice(0, 8),
    logged: ledger.logged.filter((line) => !line.includes("does not list")),
  }).toEqual({ differing: [], logged: [] });
  expect(taken.length).toBeGreaterThan(500);
});

test("with the cursor of an event, every response is that of the model with the events up to it", async () => {
  const generator = generateMessages(random.fork());
  const messages = random.shuffle(Array.from({ length: 20 }, () => generator.next().value ?? []).flat());
  const sent = messages.flatMap((message) => (message.kind === "event" ? message : []));
  const byKey = new Map(sent.map(({ event }) => [eventKey(event), event]));
  await using own = await startLedger({ limits: { batchSize: 50 } });
  await own.sendText(...sent.map(({ body }) => body));
  await eventually(async () =>
    expect(await own.database.query("select from event")).toHaveLength(byKey.size),
  );
  await mergeSummaryChanges(own.database, 100);
  const feed: { cursor: string; event: LedgerEvent }[] = (await own.pages("/v1/event?limit=1000"))
    .flatMap(({ events }) => events)
    .map((one) => ({ cursor: one.cursor, event: byKey.get(eventKey(one)) as LedgerEvent }));
  expect(feed).toHaveLength(byKey.size);
  let compared = 0;
  for (let turn = 0; turn < 6; turn += 1) {
    const count = random.integer(1, feed.length);
    const oracle = new Oracle(feed.slice(0, count).map(({ event }) => event));
    const cursor = feed[count - 1]?.cursor as string;
    const isPast = ({ name }: Read) => canBePast.test(name) && !name.includes("gateway-transaction");
    const reads = [
      ...allReads({ oracle, payments: () => 20 }, random),
      ...Array.from({ length: 100 }, () => randomReportRead(random)),
    ].filter(isPast);
    for (const read of random.sample(reads, 0.1)) {
      const result = await read.send((path, accept = "application/json") =>
        own.request(path.includes("known_at=") ? path : withParameter(path, "known_at", cursor), {
          headers: { accept },
        }),
      );
      expect(result, `${count} events: ${read.name}`).toEqual(
        JSON.parse(JSON.stringify(read.expected(oracle))),
      );
      compared += 1;
    }
  }
  expect(compared).toBeGreaterThan(200);
});

const sums = ["count", "amount", "total_amount", "net_amount", "fee", "refunded_amount", "gross_amount"];
type Group = Record<string, unknown>;

/** The groups of these lists added up, without those that are 0. */
function added(...lists: [sign: number, groups: Group[]][]): Group[] {
  const totals = new Map<string, Group>();
  for (const [sign, groups] of lists)
    for (const group of groups) {
      const key = JSON.stringify(
        Object.entries(group)
          .filter(([name]) => !sums.includes(name))
          .sort(),
      );
      const total = totals.get(key) ?? { ...group, ...Object.fromEntries(sums.map((name) => [name, 0])) };
      for (const name of sums) total[name] = Number(total[name]) + sign * Number(group[name]);
      totals.set(key, total);
    }
  const changed = [...totals].filter(([, total]) => sums.some((name) => total[name] !== 0));
  return changed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, total]) => total);
}

test("the changes between any two positions add up to the difference of the reports, whatever the filter and the groups", async () => {
  const generator = generateMessages(random.fork());
  const messages = random.shuffle(Array.from({ length: 20 }, () => generator.next().value ?? []).flat());
  const sent = messages.filter(({ kind }) => kind === "event");
  await using own = await startLedger({ limits: { batchSize: 30 } });
  await own.sendText(...sent.map(({ body }) => body));
  const count = new Set(sent.flatMap((one) => (one.kind === "event" ? eventKey(one.event) : []))).size;
  await eventually(async () => expect(await own.database.query("select from event")).toHaveLength(count));
  await mergeSummaryChanges(own.database, 300);
  const feed: { cursor: string; resource_external_id: string }[] = (
    await own.pages("/v1/event?limit=1000")
  ).flatMap(({ events }) => events);
  let listed = 0;
  for (let turn = 0; turn < 24; turn += 1) {
    const [first, last] = [random.integer(0, feed.length - 1), random.integer(0, feed.length - 1)].sort(
      (a, b) => a - b,
    );
    const [since, until] = [feed[first ?? 0]?.cursor as string, feed[last ?? 0]?.cursor as string];
    const simple = "/v1/report/transactions?override_account_id_restriction=true&group_by=type,state";
    const others = /&(display_size|format|cursor|currency_header|separator|byte_order_mark)=[^&]*/g;
    const query = turn % 2 === 0 ? simple : randomReportRead(random).name.replace(others, "");
    // Some random requests are invalid.
    if (!query.startsWith("/v1/report/transactions?") || (await own.request(query)).status !== 200) continue;
    const report = async (known_at: string) =>
      (await own.pages(withParameter(query, "known_at", known_at))).flatMap(({ groups }) => groups);
    const path = query.replace(
      "transactions?",
      `transactions/changes?since=${since}&until=${until}&display_size=20&`,
    );
    const pages = await own.pages(path);
    const expected = added([1, await report(until)], [-1, await report(since)]);
    expect(added([1, pages[0]?.groups]), query).toEqual(expected);
    const changes: { groups: Group[]; event: { cursor: string } }[] = pages.flatMap(({ changes }) => changes);
    expect(added(...changes.map(({ groups }): [number, Group[]] => [1, groups])), query).toEqual(expected);
    const placeOf = ({ event }: (typeof changes)[number]) =>
      feed.findIndex(({ cursor }) => cursor === event.cursor);
    const places = changes.map(placeOf);
    for (const page of pages)
      expect(page.changes.map(placeOf)).toEqual(
        page.changes.map(placeOf).sort((a: number, b: number) => a - b),
      );
    expect(places.every((place) => place > (first ?? 0) && place <= (last ?? 0))).toBe(true);
    listed += changes.length;
  }
  expect(listed).toBeGreaterThan(100);
});
