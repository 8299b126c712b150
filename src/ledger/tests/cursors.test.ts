import { describe, expect, test } from "vitest";
import { linkIn } from "../../../testing/link-header.ts";
import { story } from "../../../testing/messages.ts";
import { openDatabase } from "../../database/databases.ts";
import { openCursors } from "../requests/cursor.ts";
import { feedIsComplete } from "../tables/feed/feed.fixture.ts";
import { feedStart } from "../tables/feed/feed.ts";
import { cursorKeyOf } from "../tables/identity.ts";
import { migrate } from "../tables/migrate.ts";
import { ledgerOfFile } from "./ledger.fixture.ts";

const ledger = await ledgerOfFile();
const { cursors } = ledger;
await ledger.store(story("payment", "p1", ["09:14:22", "PAYMENT_CREATED", { gateway_account_id: "57" }]));

const instant = "2024-03-05T09:14:22.000000Z";
const days = "from_date=2024-03-01&to_date=2024-03-31";
const instants = "from_date=2024-03-01T00:00:00Z&to_date=2024-03-31T00:00:00Z";

const pagePosition = {
  ...{ created_date: instant, external_id: "p2", arrived: "1" },
  ...{ page: 2, total: 3, random: "1" },
};

/** A cursor of each kind, and the operations that take it. */
const kinds = {
  page: {
    cursor: () => cursors.page.write(pagePosition),
    paths: ["/v1/transaction?account_id=57", "/v1/agreement?account_id=57"],
  },
  event: {
    cursor: () =>
      cursors.event.write({
        ...{ timestamp: instant, event_type: "X", resource_type: "payment", resource_external_id: "p1" },
      }),
    paths: ["/v1/transaction/p1/event?gateway_account_id=57", "/v1/agreement/a1/event?account_id=57"],
  },
  child: {
    cursor: () => cursors.child.write({ created_date: instant, external_id: "r1" }),
    paths: ["/v1/transaction/p1/transaction?gateway_account_id=57"],
  },
  group: {
    cursor: () => cursors.group.write({ columns: ["account", "month"], values: ["57", "2024-03"] }),
    paths: [
      "/v1/report/transactions?account_id=57&group_by=account,month",
      `/v1/report/gateway-performance-report?${days}`,
    ],
  },
  hour: {
    cursor: () => cursors.hour.write({ hour: instant }),
    paths: [`/v1/report/transactions-by-hour?${instants}`],
  },
  ticker: {
    cursor: () => cursors.ticker.write({ timestamp: instant, id: 2n ** 62n }),
    paths: [`/v1/event/ticker?${instants}`],
  },
  feed: {
    cursor: () => cursors.feed.write(feedStart),
    paths: ["/v1/event?account_id=57"],
  },
  "dead letter": {
    cursor: () => cursors.deadLetter.write({ dead_letter_id: 17n }),
    paths: ["/v1/dead-letter"],
  },
};
type Kind = keyof typeof kinds;
const names = Object.keys(kinds) as Kind[];
const operations = names.flatMap((kind) => kinds[kind].paths.map((path) => [path, kind] as const));

const statusWith = async (path: string, cursor: string) =>
  (await ledger.request(`${path}${path.includes("?") ? "&" : "?"}cursor=${cursor}`)).status;

describe.each(operations)("the cursor of %s", (path, kind) => {
  const { cursor } = kinds[kind];

  test("is taken as it was given", async () => {
    expect([200, 404]).toContain(await statusWith(path, cursor()));
  });

  test("is rejected if one of its characters is another, or one more or less", async () => {
    const given = cursor();
    const positions = Array.from(given, (_, at) => at);
    const replaced = positions.map(
      (at) => given.slice(0, at) + (given[at] === "A" ? "B" : "A") + given.slice(at + 1),
    );
    for (const forged of [...replaced, given.slice(0, -1), `${given}A`, given.slice(4), given + given])
      expect([forged, await statusWith(path, forged)]).toEqual([forged, 400]);
  });

  test("is rejected if it is of another kind, of another ledger, or not sealed", async () => {
    for (const other of names.filter((name) => name !== kind))
      expect([other, await statusWith(path, kinds[other].cursor())]).toEqual([other, 400]);
    const plain = Buffer.from(JSON.stringify([instant, "p1", "1", 2, 3])).toString("base64url");
    const foreign = openCursors(new Uint8Array(32).fill(1));
    for (const forged of [plain, foreign.page.write(pagePosition)])
      expect(await statusWith(path, forged)).toBe(400);
  });
});

test("the cursor of a report is rejected in one with other columns", async () => {
  const cursor = kinds.group.cursor();
  for (const columns of ["", "&group_by=month,account", "&group_by=account", "&group_by=account,month,state"])
    expect(await statusWith(`/v1/report/transactions?account_id=57${columns}`, cursor)).toBe(400);
});

/** How many bytes of two cursors are the same at the same place. */
function equalBytes(one: string, other: string): number {
  const [bytes, others] = [Buffer.from(one, "base64url"), Buffer.from(other, "base64url")];
  return bytes.filter((byte, at) => byte === others[at]).length;
}

test("a cursor tells nothing of the events of other accounts: neither by what it contains, nor by a change", async () => {
  const created = (id: string, account: string) =>
    ledger.store(
      story("payment", id, ["09:14:22.123456", "PAYMENT_CREATED", { gateway_account_id: account }]),
    );
  /** The cursors of an account: its newest event and the end of its feed, those of its events, and one of a search. */
  async function read() {
    await feedIsComplete(ledger.database);
    const newest = await ledger.get("/v1/event?account_id=61&cursor=newest");
    const { next_cursor, events } = await ledger.get("/v1/event?account_id=61");
    const search = await ledger.request("/v1/transaction?account_id=61&display_size=1");
    const ofFeed = [
      newest.next_cursor,
      next_cursor,
      ...events.map(({ cursor }: { cursor: string }) => cursor),
    ];
    return { ofFeed, ofSearch: new URL(linkIn(search.headers) ?? "").searchParams.get("cursor") ?? "" };
  }
  await created("q1", "61");
  await created("q2", "61");
  const before = await read();
  const again = await read();
  for (let count = 0; count < 12; count += 1) await created(`other${count}`, "62");
  const after = await read();
  // In the feed they are positions of the account alone. In a search they are never the same.
  expect(after.ofFeed).toEqual(before.ofFeed);
  expect(new Set([before.ofSearch, again.ofSearch, after.ofSearch]).size).toBe(3);
  expect(after.ofSearch).toHaveLength(before.ofSearch.length);
  // Positions that are almost equal have cursors that are not: by chance alone, eight bytes agree once in 10^10 times.
  const sealed = [...new Set([...after.ofFeed, before.ofSearch, again.ofSearch, after.ofSearch])];
  expect(sealed.length).toBeGreaterThan(4);
  for (const one of sealed)
    for (const other of sealed.filter((cursor) => cursor !== one))
      expect(equalBytes(one, other)).toBeLessThan(8);
});

test("the key is the same for each process of a ledger, and another one in each ledger", async () => {
  const key = await cursorKeyOf(ledger.database);
  expect(key).toHaveLength(32);
  expect(await cursorKeyOf(ledger.database)).toEqual(key);
  await using other = await openDatabase("pglite:memory");
  await migrate(other);
  expect(await cursorKeyOf(other)).not.toEqual(key);
});
