import { expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import type { Owner } from "../../waiting/owner.ts";
import { type Cursor, type Feed, openStreams } from "./feed.ts";

interface Filter {
  name: string;
}

/** A feed of numbered records, which all filters match. A read ends when the test releases it. */
function openFeed() {
  let newest = 0;
  let isFree = false;
  const reads: { name: string; release(): void }[] = [];
  const feed: Feed<Filter> = {
    newest: async () => String(newest),
    async read({ name }, after: Cursor) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const cursor = String(newest);
      reads.push({ name, release: resolve });
      if (!isFree) await promise;
      return { text: Buffer.from(`${name} ${after}\n`), cursor };
    },
    cursorAt: (cursor) => cursor,
    isOutage: () => false,
  };
  return {
    feed,
    reads,
    add() {
      newest += 1;
    },
    async releaseFirst(count: number) {
      for (let index = 0; index < count; index += 1) {
        await eventually(() => expect(reads.length).toBeGreaterThan(index));
        reads[index]?.release();
      }
    },
    releaseAll() {
      isFree = true;
      for (const { release } of reads) release();
    },
  };
}

/** Opens streams of a caller, each with a filter of its own, and reads them until the signal aborts. */
async function openMany(
  follow: ReturnType<typeof openStreams<Filter>>,
  owner: Owner,
  names: string[],
  signal: AbortSignal,
): Promise<Promise<void>[]> {
  const streams = names.map((name) => follow(owner, { name }, "0", signal));
  await Promise.all(streams.map((stream) => stream.next()));
  return streams.map(async (stream) => {
    for await (const _ of stream);
  });
}

test("callers take turns: 300 streams of one do not delay that of another", async () => {
  const { feed, reads, add, releaseFirst, releaseAll } = openFeed();
  const follow = openStreams(feed);
  const closing = new AbortController();
  const { signal } = closing;
  add();
  const names = Array.from({ length: 300 }, (_, index) => `own ${index}`);
  const ended = await openMany(follow, "subject many", names, signal);
  await eventually(() => expect(reads).toHaveLength(1));
  ended.push(...(await openMany(follow, "subject one", ["other"], signal)));
  await releaseFirst(4);
  expect(reads.slice(0, 4).map(({ name }) => name)).toContain("other");
  releaseAll();
  await eventually(() =>
    expect(new Set(reads.map(({ name }) => name))).toEqual(new Set([...names, "other"])),
  );
  closing.abort();
  await Promise.all(ended);
});

test("a record is read once for all streams with the same filter, also of several callers", async () => {
  const { feed, reads, add, releaseFirst } = openFeed();
  const follow = openStreams(feed);
  const closing = new AbortController();
  // All wait at the same cursor before there is a record.
  const ended = await Promise.all(
    (["subject a", "subject b", "address c"] as const).map((owner) =>
      openMany(follow, owner, ["same", "same"], closing.signal),
    ),
  );
  add();
  await eventually(() => expect(reads).toHaveLength(1));
  add();
  await releaseFirst(2);
  expect(reads.map(({ name }) => name)).toEqual(["same", "same"]);
  closing.abort();
  await Promise.all(ended.flat());
});

test("streams with filters and cursors that are equal when joined have records of their own", async () => {
  const filters: object[] = [
    ...[
      { a: ["x,y"] },
      { a: ["x", "y"] },
      { a: ['x","y'] },
      { a: "x,y" },
      { a: "x", b: "y" },
      { a: 'x","b":"y' },
    ],
    ...[{ a: null }, { a: "null" }, {}, { A: ["x,y"] }, { a: ["X,y"] }, { a: ["x,y "] }],
  ];
  const feed: Feed<object> = {
    newest: async () => "9",
    read: async (filter, after) => ({
      text: Buffer.from(JSON.stringify([after ?? null, filter])),
      cursor: "9",
    }),
    cursorAt: (cursor) => cursor,
    isOutage: () => false,
  };
  const follow = openStreams(feed);
  const closing = new AbortController();
  const cursors = [undefined, "null", "1", "1,", '1",{"a'];
  const wanted = cursors.flatMap((cursor) => filters.map((filter) => ({ cursor, filter })));
  const received = await Promise.all(
    wanted.map(async ({ cursor, filter }, index) => {
      const stream = follow(`subject ${index % 3}`, filter, cursor, closing.signal);
      await stream.next();
      return String((await stream.next()).value);
    }),
  );
  expect(received).toEqual(wanted.map(({ cursor, filter }) => JSON.stringify([cursor ?? null, filter])));
  closing.abort();
});
