import { describe, expect, test } from "vitest";
import { listen } from "../../../testing/event-stream.ts";
import { eventually } from "../../../testing/eventually.ts";
import { linkIn } from "../../../testing/link-header.ts";
import { story } from "../../../testing/messages.ts";
import { openNews } from "../../waiting/news.ts";
import { feedIsComplete } from "../tables/feed/feed.fixture.ts";
import type { FeedPosition } from "../tables/feed/feed.ts";
import { ledgerOfFile, openApp } from "./ledger.fixture.ts";

const ledger = await ledgerOfFile();

let stories = 0;
/** Stores a payment of an account with two events, and resolves with its id. */
async function storePayment(account: string): Promise<string> {
  stories += 1;
  const id = `${account}-${stories}`;
  await ledger.store(
    story(
      "payment",
      id,
      ["10:00", "PAYMENT_CREATED", { gateway_account_id: account, amount: 5 }],
      ["10:01", "PAYMENT_STARTED"],
    ),
  );
  await feedIsComplete(ledger.database);
  return id;
}

interface FeedEvent {
  cursor: string;
  resource_external_id: string;
}
const idsOf = (events: FeedEvent[]) => events.map(({ resource_external_id }) => resource_external_id);
const newest = async () => {
  await feedIsComplete(ledger.database);
  return (await ledger.request("/v1/event?cursor=newest")).json.next_cursor as string;
};
const read = (query: string, accept = "application/json") =>
  ledger.request(`/v1/event?${query}`, { headers: { accept } });

test("an event in the feed has the members of the event and its account, also if it names none", async () => {
  const cursor = await newest();
  const id = await storePayment("57");
  const { json } = await read(`cursor=${cursor}`);
  expect(json.events).toEqual([
    {
      cursor: expect.any(String),
      event_id: expect.any(Number),
      event_type: "PAYMENT_CREATED",
      resource_type: "payment",
      resource_external_id: id,
      parent_resource_external_id: null,
      gateway_account_id: "57",
      timestamp: "2024-03-05T10:00:00.000000Z",
      event_details: { gateway_account_id: "57", amount: 5 },
      service_id: null,
      live: null,
    },
    expect.objectContaining({ event_type: "PAYMENT_STARTED", gateway_account_id: "57", event_details: {} }),
  ]);
  expect(json).toMatchObject({ next_cursor: json.events[1].cursor, has_more: false });
  const own = await ledger.request(`/v1/event/${json.events[0].event_id}`);
  expect(json.events[0]).toMatchObject(own.json);
});

test("an event in the feed has the other members of its message, and the account that it names beside its details", async () => {
  const cursor = await newest();
  const members = { gateway_account_id: 62, trace: { id: "t" } };
  const started = story("payment", "beside", ["10:01", "PAYMENT_STARTED", { gateway_account_id: null }]);
  const created = story("payment", "beside", [
    "10:00",
    "PAYMENT_CREATED",
    { gateway_account_id: null, amount: 5 },
  ]);
  await ledger.store([...started.map((event) => ({ ...event, ...members })), ...created]);
  await feedIsComplete(ledger.database);
  const { json } = await read(`cursor=${cursor}&account_id=62`);
  expect(json.events).toMatchObject([
    { event_type: "PAYMENT_STARTED", gateway_account_id: "62", event_details: {}, other_members: members },
    { event_type: "PAYMENT_CREATED", gateway_account_id: "62", event_details: { amount: 5 } },
  ]);
  expect(json.events[1]).not.toHaveProperty("other_members");
  expect(await ledger.get("/v1/transaction/beside?account_id=62")).toMatchObject({
    gateway_account_id: "62",
    amount: 5,
  });
  expect((await ledger.get("/v1/transaction/beside/event?gateway_account_id=62")).events).toMatchObject([
    { data: { amount: 5 } },
    { data: {} },
  ]);
  const [named] = story("payment", "beside", ["10:02", "A", { gateway_account_id: "63" }]);
  await ledger.send({ ...named, ...members });
  await ledger.until("/v1/transaction/beside?account_id=63", { amount: 5 });
  expect((await ledger.request("/v1/transaction/beside?account_id=62")).status).toBe(404);
});

test("a page leads to the next one until the newest event", async () => {
  const start = await newest();
  const ids = [await storePayment("57"), await storePayment("58"), await storePayment("57")];
  let path: string | undefined = `/v1/event?cursor=${start}&limit=2&account_id=57`;
  const pages: string[][] = [];
  while (path) {
    const { json, headers }: Awaited<ReturnType<typeof ledger.request>> = await ledger.request(path);
    pages.push(idsOf(json.events));
    expect(json.has_more).toBe(headers.link !== undefined);
    path = linkIn(headers)?.slice(ledger.base.length);
  }
  expect(pages).toEqual([
    [ids[0], ids[0]],
    [ids[2], ids[2]],
  ]);
});

test("NDJSON has the same events", async () => {
  const start = await newest();
  await storePayment("57");
  await storePayment("57");
  const { json } = await read(`cursor=${start}&limit=3`);
  const { text, headers } = await read(`cursor=${start}&limit=3`, "application/x-ndjson");
  expect(headers["content-type"]).toBe("application/x-ndjson; charset=utf-8");
  expect(headers.link).toMatch(/cursor=[\w-]+>; rel="next"$/);
  expect(text.endsWith("\n")).toBe(true);
  expect(
    text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual(json.events);
});

test("numbers in the details keep all their digits", async () => {
  const start = await newest();
  const message = story("payment", "digits", ["10:00", "PAYMENT_CREATED", { amount: 5 }])[0];
  await ledger.sendText(
    JSON.stringify(message).replace('"amount":5', '"amount":5,"exact":12345678901234567890.10'),
  );
  await eventually(async () => {
    for (const type of ["application/json", "application/x-ndjson"])
      expect((await read(`cursor=${start}`, type)).text).toContain('"exact": 12345678901234567890.10');
  });
  const stream = await ledger.listenToFeed(`?cursor=${start}`);
  await expect.poll(stream.text).toContain('"exact": 12345678901234567890.10');
  stream.stop();
});

describe("a cursor", () => {
  test("that is none of the feed gets 400", async () => {
    for (const cursor of ["nothing", ledger.cursors.deadLetter.write({ dead_letter_id: 1n })]) {
      for (const response of [
        await read(`cursor=${cursor}`),
        await ledger.request("/v1/event", { headers: { "last-event-id": cursor } }),
      ]) {
        expect(response.status).toBe(400);
        expect(response.json.message).toEqual([
          "cursor and Last-Event-ID must be the cursor of an event in the feed, or newest",
        ]);
      }
    }
    expect((await read("cursor=a%20b")).status).toBe(400);
    expect((await read(`cursor=${"a".repeat(5000)}`)).status).toBe(400);
  });

  test("of an event that does not exist gets 410, in any format", async () => {
    await storePayment("57");
    const position = ledger.cursors.feed.read(await newest()) as FeedPosition;
    const cursor = ledger.cursors.feed.write({ ...position, event_id: position.event_id + 100n });
    for (const accept of ["application/json", "application/x-ndjson", "text/event-stream"]) {
      const { status, json } = await read(`cursor=${cursor}`, accept);
      expect(status).toBe(410);
      expect(json.message).toEqual([
        "the event of this cursor does not exist; read the feed from another cursor",
      ]);
    }
  });
});

test("a limit beyond 1 to 1,000, an unknown type and an unknown parameter get 400", async () => {
  for (const query of [
    "limit=0",
    "limit=1001",
    "limit=x",
    "resource_types=charge",
    "account=57",
    `account_id=${"5".repeat(300)}`,
  ])
    expect((await read(query)).status, query).toBe(400);
});

describe("a stream", () => {
  test("begins with a comment, sends what is stored, and continues where a client has stopped", async () => {
    const start = await newest();
    const stream = await ledger.listenToFeed(`?cursor=${start}&account_id=57`);
    expect(stream.response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    await expect.poll(stream.text).toBe(":\n\n");
    const ids = [await storePayment("57"), await storePayment("58"), await storePayment("57")];
    const events = () => stream.events().map(({ data }) => data as FeedEvent);
    await expect.poll(() => idsOf(events())).toEqual([ids[0], ids[0], ids[2], ids[2]]);
    for (const { id, data } of stream.events()) expect(id).toBe(data.cursor);
    expect(events()).toEqual((await read(`cursor=${start}&account_id=57`)).json.events);
    stream.stop();
    const second = events()[1]?.cursor ?? "";
    const again = await ledger.listenToFeed("?cursor=newest&account_id=57", {
      "last-event-id": second,
    });
    await expect.poll(() => idsOf(again.events().map(({ data }) => data))).toEqual([ids[2], ids[2]]);
    again.stop();
  });

  test("finds what was stored at its next look if the news are lost", async () => {
    await using other = await openApp({ database: ledger.database, news: openNews() });
    const base = await other.app.listen({ port: 0, host: "127.0.0.1" });
    const stream = await listen(base, "/v1/event?cursor=newest");
    await expect.poll(stream.text).toBe(":\n\n");
    const id = await storePayment("57");
    await expect.poll(stream.text).toContain(`"resource_external_id":"${id}"`);
    stream.stop();
  });

  test("of any filter has the same events as the pages", async () => {
    const start = await newest();
    const expected: Record<string, (a: string, b: string, c: string) => string[]> = {
      "": (a, b, c) => [a, a, b, b, c, c],
      "&resource_types=&event_types=": (a, b, c) => [a, a, b, b, c, c],
      "&account_id=59,57&event_types=PAYMENT_STARTED": (a, _, c) => [a, c],
      "&event_types=PAYMENT_STARTED&event_types=OTHER": (a, b, c) => [a, b, c],
      "&resource_types=payment&account_id=58": (_, b) => [b, b],
      "&resource_types=refund&resource_types=payout": () => [],
      "&account_id=unknown": () => [],
    };
    const streams = await Promise.all(
      Object.keys(expected).map((filter) => ledger.listenToFeed(`?cursor=${start}${filter}`)),
    );
    const ids = [await storePayment("57"), await storePayment("58"), await storePayment("59")] as const;
    for (const [index, [filter, idsIn]] of Object.entries(expected).entries()) {
      const { json } = await read(`cursor=${start}${filter}&limit=`);
      expect(idsOf(json.events), filter).toEqual(idsIn(...ids));
      await expect.poll(() => streams[index]?.events().map(({ data }) => data)).toEqual(json.events);
    }
    for (const stream of streams) stream.stop();
  });
});
