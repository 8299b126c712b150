import { expect, test } from "vitest";
import { type FeedEvent, keepResponses, type Send, verifyKnown } from "../../../simulation/ledger/known.ts";
import { encode, eventKey, generateMessages, type Message } from "../../../simulation/ledger/messages.ts";
import { Oracle } from "../../../simulation/ledger/oracle.ts";
import { randomRead, randomReportRead } from "../../../simulation/ledger/reads.ts";
import { eventually } from "../../../testing/eventually.ts";
import { type Random, seeded } from "../../../testing/random.ts";
import { mergeSummaryChanges, rebuildSummaries } from "../tables/summary/upkeep.ts";
import { startLedger } from "./ledger.fixture.ts";

const random = seeded(Number(process.env.SEED ?? 58));
/** A history is what some payments, with all that belongs to them, become in some parts. More of them take longer. */
const histories = Number(process.env.HISTORIES ?? 24);
/** Those of one ledger. Each is stored after the responses to the former ones. */
const historiesOfLedger = 12;
const paymentsMax = 3;
const partsMax = 3;
const readsOfPart = 5;

type Ledger = Awaited<ReturnType<typeof startLedger>>;

const sending =
  (ledger: Ledger): Send =>
  (path, accept = "application/json") =>
    ledger.request(path, { headers: { accept } });

const untilStored = (ledger: Ledger, { events }: Oracle) =>
  eventually(async () =>
    expect(await ledger.database.query("select from event")).toHaveLength(events.length),
  );

const newEvents = (messages: Message[]) =>
  messages.flatMap((message) => (message.kind === "event" ? message.event : []));

/** Messages in any order, some repeatedly, and some once more with other details, which change nothing. */
function deliver(own: Random, messages: Message[]): string[] {
  const changed = own
    .sample(newEvents(messages), 0.1)
    .map((event) => encode(own, { ...event, event_details: { amount: 1, gateway_account_id: "60" } }));
  const valid = messages.filter(({ kind }) => kind !== "invalid");
  return own.shuffle([...[...valid, ...own.sample(valid, 0.15)].map(({ body }) => body), ...changed]);
}

/** The feed, as soon as it has this number of events: transactions of other tests in the same server hold it back. */
async function feedOf(ledger: Ledger, count: number): Promise<FeedEvent[]> {
  let feed: FeedEvent[] = [];
  await eventually(async () => {
    feed = (await ledger.pages("/v1/event?limit=1000")).flatMap(({ events }) => events);
    expect(feed).toHaveLength(count);
  });
  return feed;
}

/** Stores histories, and reads meanwhile. At the end, every request must get the same response at its position. */
async function tryHistories(own: Random, count: number): Promise<void> {
  // Small batches: on PostgreSQL several are stored at the same time.
  await using ledger = await startLedger({ limits: { batchSize: 4 } });
  const generator = generateMessages(own.fork());
  const oracle = new Oracle();
  const kept = keepResponses(own.fork());
  const send = kept.keeping(sending(ledger));
  let payments = 0;
  for (let number = 0; number < count; number += 1) {
    const added = own.integer(1, paymentsMax);
    payments += added;
    const messages = Array.from({ length: added }, () => generator.next().value ?? []).flat();
    for (const event of newEvents(messages)) oracle.add(event);
    const bodies = deliver(own, messages);
    const parts = own.integer(1, partsMax);
    for (let part = 0; part < parts; part += 1) {
      const upTo = (some: number) => Math.floor((some / parts) * bodies.length);
      await ledger.sendText(...bodies.slice(upTo(part), upTo(part + 1)));
      // In the other half the responses are of positions between the commits.
      if (part === parts - 1 && own.chance(0.5)) await untilStored(ledger, oracle);
      if (own.chance(0.5)) await mergeSummaryChanges(ledger.database, own.pick([1, 10, 100_000]));
      for (let read = 0; read < readsOfPart; read += 1)
        await (own.chance(0.6) ? randomReportRead(own) : randomRead(own, payments)).send(send);
    }
  }
  await untilStored(ledger, oracle);
  await (own.chance(0.3)
    ? rebuildSummaries(ledger.database)
    : mergeSummaryChanges(ledger.database, own.pick([1, 100_000])));
  await kept.sendAll([sending(ledger), sending(ledger)]);
  const logged = ledger.logged.filter((line) => !line.includes("does not list"));
  expect({ withoutPosition: kept.withoutPosition(), logged }).toEqual({ withoutPosition: 0, logged: [] });
}

test("a response that was given at a position is that to the same request with known_at, whatever is stored later", async () => {
  for (let done = 0; done < histories; done += historiesOfLedger)
    await tryHistories(random.fork(), Math.min(historiesOfLedger, histories - done));
}, 600_000);

test("with the cursor of an event, every response is that of the model with the events up to it", async () => {
  const generator = generateMessages(random.fork());
  const messages = Array.from({ length: 15 }, () => generator.next().value ?? []).flat();
  const oracle = new Oracle(newEvents(messages));
  await using ledger = await startLedger({ limits: { batchSize: 50 } });
  const valid = random.shuffle(messages.filter(({ kind }) => kind !== "invalid"));
  await ledger.sendText(...valid.map(({ body }) => body));
  await untilStored(ledger, oracle);
  await mergeSummaryChanges(ledger.database, 50);
  const feed = await feedOf(ledger, oracle.events.length);
  const options = { cursors: 6, probability: 0.02 };
  expect(await verifyKnown([sending(ledger)], feed, oracle.events, random, options)).toBeGreaterThan(40);
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
  const feed = await feedOf(own, count);
  let listed = 0;
  for (let turn = 0; turn < 36; turn += 1) {
    const [first, last] = [random.integer(0, feed.length - 1), random.integer(0, feed.length - 1)].sort(
      (a, b) => a - b,
    );
    const [since, until] = [feed[first ?? 0]?.cursor as string, feed[last ?? 0]?.cursor as string];
    const simple = "/v1/report/transactions?override_account_id_restriction=true&group_by=type,state";
    const byState = `${simple}&payment_states=created,submitted&refund_states=success`;
    const others = /(?<=[?&])(display_size|format|cursor|currency_header|separator|byte_order_mark)=[^&]*&?/g;
    const query = [simple, randomReportRead(random).name.replace(others, ""), byState][turn % 3] as string;
    // Some random requests are invalid.
    if (!query.startsWith("/v1/report/transactions?") || (await own.request(query)).status !== 200) continue;
    const report = async (known_at: string) =>
      (await own.pages(`${query}&known_at=${known_at}`)).flatMap(({ groups }) => groups);
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
