import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import type { Database, Sql } from "../../database/database.ts";
import { recordCommand } from "../access/recorder.ts";
import { ingest } from "../intake/ingest.ts";
import { redact } from "../intake/redact.ts";
import { events } from "../projection/events.fixture.ts";
import { keepAccessRecords } from "../tables/access-record.ts";
import { feedIsComplete } from "../tables/feed/feed.fixture.ts";
import { openLedgerDatabase } from "../tables/ledger-database.fixture.ts";
import { newestCheckpoint, readHead } from "../tables/transparency.ts";
import { publishCheckpoint } from "../transparency/checkpoint.ts";
import { accountKey, openEntries, tagOf } from "../transparency/entry.ts";
import { inclusionProof, leafHash, treeHash } from "../transparency/merkle.ts";
import { signerOf } from "../transparency/note.ts";
import { proofOf } from "../transparency/proof.ts";
import { seal } from "../transparency/seal.ts";
import { tileReader } from "../transparency/tiles.ts";
import { verifyLog } from "../transparency/verify.ts";

const signer = signerOf("ledger.example.com/log", Buffer.alloc(32, 1));
const entryOf = openEntries(signer);

const payment = (id: string, account = "57") =>
  events(
    "payment",
    id,
    ["09:00", "PAYMENT_CREATED", { amount: 100, gateway_account_id: account, email: `${id}@example.org` }],
    ["09:10", "CAPTURE_CONFIRMED", { net_amount: 98 }],
  );
const store = (database: Database, ...some: ReturnType<typeof events>[]) =>
  ingest(database, { events: some.flat(), rebuilds: [], deadLetters: [] });

/** Seals what is in the feed, also while other databases of the server hold it back. */
async function sealAll(database: Database): Promise<void> {
  await eventually(async () => {
    while ((await seal(database, entryOf, 300)).count > 0);
    const [left] = await database.query(`
      select from event where not exists (select from transparency_entry where kind = 0 and source_id = id)
      union all
      select from redaction where not exists (select from transparency_entry where kind = 1 and source_id = id) limit 1`);
    expect(left).toBeUndefined();
  });
}

const publish = (database: Database, by = signer) => publishCheckpoint(database, by, []);
const noteOf = async (sql: Sql) => (await newestCheckpoint(sql))?.note as string;

async function differences(sql: Sql, former: string[] = []): Promise<string[]> {
  const found: string[] = [];
  await verifyLog(
    sql,
    signer,
    former,
    (difference) => found.push(difference),
    () => {},
  );
  return found;
}

const nodeOf = (left: Buffer, right: Buffer): Buffer =>
  createHash("sha256")
    .update(Buffer.concat([Buffer.of(1), left, right]))
    .digest();

/** The largest power of 2 that is less than a size. */
function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/** The root by the definition of RFC 6962, section 2.1. */
function rootOf(leaves: Buffer[]): Buffer {
  if (leaves.length <= 1) return leaves[0] ?? createHash("sha256").digest();
  const split = splitOf(leaves.length);
  return nodeOf(rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)));
}

/** The root that a leaf and its proof give, by the definition in section 2.1.1. */
function rootWith(leaf: Buffer, index: number, size: number, proof: Buffer[]): Buffer {
  const sibling = proof.at(-1);
  if (size === 1 || !sibling) return leaf;
  const [split, below] = [splitOf(size), proof.slice(0, -1)];
  return index < split
    ? nodeOf(rootWith(leaf, index, split, below), sibling)
    : nodeOf(sibling, rootWith(leaf, index - split, size - split, below));
}

test("a tree in tiles has the root and the proofs of RFC 6962 at any size", async () => {
  await using database = await openLedgerDatabase();
  const ids = Array.from({ length: 180 }, (_, index) => `p${index}`);
  await store(database, ...ids.map((id) => payment(id)));
  await sealAll(database);
  const tiles = await database.query<{ content: Uint8Array }>(
    "select content from transparency_tile where level = -1 order by index",
  );
  const bytes = Buffer.concat(tiles.map(({ content }) => content));
  const leaves = Array.from({ length: bytes.length / 48 }, (_, index) =>
    leafHash(bytes.subarray(index * 48, (index + 1) * 48)),
  );
  expect(leaves.length).toBe(360);
  const read = tileReader(database);
  for (const size of [0, 1, 2, 3, 255, 256, 257, 300, 360]) {
    const root = rootOf(leaves.slice(0, size));
    expect(await treeHash(read, size)).toEqual(root);
    for (const index of [0, 1, 254, 255, 256, size - 1].filter((one) => one >= 0 && one < size))
      expect(rootWith(leaves[index] as Buffer, index, size, await inclusionProof(read, index, size))).toEqual(
        root,
      );
  }
});

test("two processes that seal at the same time add each entry once, in the order of the feed", async () => {
  await using database = await openLedgerDatabase();
  await store(database, ...Array.from({ length: 40 }, (_, index) => payment(`p${index}`)));
  await Promise.all(Array.from({ length: 8 }, () => seal(database, entryOf, 7)));
  await sealAll(database);
  await publish(database);
  expect(await differences(database)).toEqual([]);
  expect((await readHead(database)).size).toBe(80n);
});

test("a step adds few large events, since the embedded engine does nothing else meanwhile", async () => {
  await using database = await openLedgerDatabase();
  const large = { reference: "r".repeat(700_000) };
  await store(
    database,
    ...["p1", "p2", "p3", "p4"].map((id) => events("payment", id, ["09:00", "PAYMENT_CREATED", large])),
  );
  await feedIsComplete(database);
  expect(await seal(database, entryOf, 300)).toEqual({ count: 3, isFull: true });
  expect(await seal(database, entryOf, 300)).toEqual({ count: 1, isFull: false });
  expect(await differences(database)).toEqual([]);
});

test("an erased value cannot be guessed from the log, which stays true", async () => {
  await using database = await openLedgerDatabase();
  await store(database, payment("erased"), payment("other"));
  await sealAll(database);
  await publish(database);
  const before = await noteOf(database);
  const { proof } = await proofOf(database, signer, "erased", true);
  expect(proof.entries[0]).toMatchObject({
    salt: expect.any(String),
    personal: expect.stringContaining("erased@"),
  });
  await redact(database, ["erased"], false);
  await store(
    database,
    events("payment", "erased", ["11:00", "LATE", { email: "erased@example.org" }]).map((event) => event),
  );
  await sealAll(database);
  await publish(database);
  expect(await differences(database, [before])).toEqual([]);
  const after = await proofOf(database, signer, "erased", true);
  expect(after.proof.entries.map(({ text }) => JSON.parse(text)[0])).toEqual([
    "event",
    "event",
    "redaction",
    "event",
  ]);
  expect(after.proof.entries[0]).not.toHaveProperty("salt");
  expect(JSON.stringify(after.proof)).not.toContain("erased@");
  const salted = await database.query(
    "select salt from transparency_entry join event on source_id = event.id and kind = 0 where resource_external_id = 'erased'",
  );
  expect(salted.slice(0, 2)).toEqual([{ salt: null }, { salt: null }]);
});

test("the key of an account finds its entries and no other", async () => {
  await using database = await openLedgerDatabase();
  await store(database, payment("p1"), payment("p2", "58"), payment("p3"));
  await sealAll(database);
  const [{ content }] = (await database.query("select content from transparency_tile where level = -1")) as [
    { content: Uint8Array },
  ];
  const key = accountKey(signer, "57");
  const found = Array.from({ length: 6 }, (_, index) => index).filter((index) =>
    tagOf(key, index).equals(Buffer.from(content).subarray(index * 48, index * 48 + 16)),
  );
  const own = await database.query(
    "select index from transparency_entry where account = '57' order by index",
  );
  expect(found.map((index) => ({ index: BigInt(index) }))).toEqual(own);
  expect(found.length).toBe(4);
});

test("records of accesses are sealed in the order of the feed; changes are named, and old records can be removed", async () => {
  await using database = await openLedgerDatabase();
  const record = (subject: string) => recordCommand(database, `of ${subject}`, ["p1"], undefined);
  await store(database, payment("p1"));
  await record("anna");
  await store(database, payment("p2"));
  await record("eve");
  await sealAll(database);
  await record("paul");
  await store(database, payment("p3"));
  await sealAll(database);
  const sealed = await database.query<{ kind: number }>("select kind from transparency_entry order by index");
  expect(sealed.map(({ kind }) => kind).join("")).toBe("002002200");
  expect(await differences(database)).toEqual([]);
  const after = async (change: string) => {
    let found: string[] = [];
    const rolledBack = new Error("rolled back");
    const work = database.transaction(async (sql) => {
      await sql.run(change);
      found = await differences(sql);
      throw rolledBack;
    });
    await expect(work).rejects.toBe(rolledBack);
    return found;
  };
  expect(await after("update access_record set reason = 'none' where id = 2")).toEqual([
    "access 2 of command of eve command has other personal data than before",
  ]);
  expect(await after("delete from access_record where id = 2")).toEqual(["access 2 was removed"]);
  expect(
    await after("update access_record set recorded_at = now() - interval '1 hour' where id = 3"),
  ).toEqual([
    expect.stringMatching(/^access 3 of command of paul command was changed, or its entry 6 in the log$/),
  ]);
  expect(
    await after(
      `insert into access_record (id, accessed_at, service, operation, gateway_account_ids, resource_ids, status)
       values (0, now(), 'ledger', 'planted', '{}', '{}', 200)`,
    ),
  ).toEqual([expect.stringMatching(/^access 0 was added behind the head of the log/)]);
  expect(await after("update transparency_head set access_record_id = 2")).toEqual([
    "the head of the log was changed: it is not at the last entry",
  ]);

  await database.run("update access_record set recorded_at = now() - interval '2 years' where id < 3");
  await keepAccessRecords(database, "13 months");
  expect(await database.query("select id from access_record")).toEqual([{ id: 3n }]);
  expect(await differences(database)).toEqual([]);
});

describe("a planted change is found and named", () => {
  let database: Database;
  let former: string;
  beforeAll(async () => {
    database = await openLedgerDatabase();
    const ids = Array.from({ length: 150 }, (_, index) => `p${index}`);
    await store(database, ...ids.map((id) => payment(id)));
    await sealAll(database);
    await redact(database, ["p7"], false);
    await sealAll(database);
    await publish(database);
    former = await noteOf(database);
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const rolledBack = new Error("rolled back");
  /** The differences after changes that are rolled back afterwards. */
  async function differencesAfter(
    change: string | ((within: Database) => Promise<unknown>),
  ): Promise<string[]> {
    let found: string[] = [];
    const work = database.transaction(async (sql) => {
      if (typeof change === "string") await sql.run(change);
      else await change({ ...database, ...sql, transaction: (work) => work(sql) });
      found = await differences(sql, [former]);
      throw rolledBack;
    });
    await expect(work).rejects.toBe(rolledBack);
    return found;
  }

  const one = "(select id from event where resource_external_id = 'p3' and event_type = 'PAYMENT_CREATED')";
  const ofOne = `kind = 0 and source_id = ${one}`;
  const changeDetails = (json: string) =>
    `update event set event_details = event_details || '${json}' where id = ${one}`;
  const truncated = `
    delete from transparency_entry where index >= 256;
    delete from transparency_tile where index = 1;
    delete from transparency_checkpoint;
    update transparency_head set size = 256, (sql_transaction, kind, source_id) = (
      select sql_transaction, 0, source_id from transparency_entry join event_feed on event_id = source_id where index = 255
    )`;
  const emptied = `
    delete from transparency_entry; delete from transparency_tile; delete from transparency_checkpoint;
    update transparency_head set size = 0, sql_transaction = -1, kind = 0, source_id = 0, access_record_id = 0;`;
  const sealAgain = async (within: Database, by = signer) => {
    while ((await seal(within, openEntries(by), 4096)).count > 0);
    await publish(within, by);
  };

  test.each([
    [
      "a member of the details",
      changeDetails('{"amount": 1}'),
      /^event \d+ of payment p3 was changed, or its entry \d+ in the log$/,
    ],
    [
      "a column",
      `update event set timestamp = timestamp + interval '1 second' where id = ${one}`,
      /^event \d+ of payment p3 was changed/,
    ],
    [
      "the time of acceptance",
      `update event set accepted_at = now() where id = ${one}`,
      /^event \d+ of payment p3 was changed/,
    ],
    ["a member that was not there", changeDetails('{"fee": 1}'), /^event \d+ of payment p3 was changed/],
    [
      "personal data",
      changeDetails('{"email": "other@example.org"}'),
      /^event \d+ of payment p3 has other personal data than before$/,
    ],
    [
      "personal data that was not there",
      "update event set event_details = event_details || '{\"email\": \"a@b\"}' where resource_external_id = 'p3' and event_type = 'CAPTURE_CONFIRMED'",
      /^event \d+ of payment p3 has more personal data than before$/,
    ],
    [
      "a redaction by hand",
      changeDetails('{"email": "<REDACTED>"}'),
      /^event \d+ of payment p3 was redacted by hand$/,
    ],
    [
      "a redaction by hand with the salt",
      `${changeDetails('{"email": "<REDACTED>"}')}; update transparency_entry set salt = null where ${ofOne}`,
      /^event \d+ of payment p3 was redacted by hand$/,
    ],
    ["the removal of a redaction", "delete from redaction", /^redaction \d+ was removed$/],
    [
      "values in place of erased ones",
      "update event set event_details = event_details || '{\"email\": \"a@b\"}' where resource_external_id = 'p7' and event_type = 'PAYMENT_CREATED'",
      /^event \d+ of payment p7 has personal data that nothing proves/,
    ],
    [
      "the removal of a salt",
      `update transparency_entry set salt = null where ${ofOne}`,
      /^event \d+ of payment p3 has personal data that nothing proves/,
    ],
    [
      "a salted hash",
      `update transparency_entry set personal_hash = sha256('') where ${ofOne}`,
      /^event \d+ of payment p3 was changed/,
    ],
    ["the removal of an event", `delete from event where id = ${one}`, /^event \d+ was removed$/],
    [
      "the removal of an event from the feed",
      `delete from event_feed where event_id = ${one}`,
      /^event \d+ of payment p3 is not at its place in the order of the feed$/,
    ],
    [
      "an event behind the end",
      "insert into event (resource_type, resource_external_id, timestamp, event_type, event_details) values ('payment', 'planted', now(), 'PLANTED', '{}'); update event_feed set sql_transaction = 1 where event_id = (select max(id) from event)",
      /^event \d+ was added behind the head of the log, or its entry was removed$/,
    ],
    [
      "an event without the feed",
      "insert into event (resource_type, resource_external_id, timestamp, event_type, event_details) values ('payment', 'planted', now(), 'PLANTED', '{}'); delete from event_feed where event_id = (select max(id) from event)",
      /^event \d+ was added without the feed$/,
    ],
    [
      "two entries in place of each other",
      "update transparency_entry set index = 301 - index where index in (40, 261)",
      /^event \d+ of payment p\d+ is not at its place in the order of the feed$/,
    ],
    [
      "two events in place of each other",
      "update event_feed set sql_transaction = 0 where event_id = (select max(id) from event)",
      /^event \d+ of payment p149 is not at its place/,
    ],
    [
      "the removal of an entry",
      `delete from transparency_entry where ${ofOne}`,
      /^the entry \d+ has no source any more$/,
    ],
    [
      "the account of an event",
      `update event_feed set gateway_account_id = '1' where event_id = ${one}`,
      /^the account of event \d+ of payment p3 was changed$/,
    ],
    [
      "a hash of the tree",
      "update transparency_tile set content = set_byte(content, 40, 1) where level = 0 and index = 0",
      /^the tile 0\/0 was changed$/,
    ],
    [
      "the head",
      "update transparency_head set source_id = source_id + 1",
      /^the head of the log was changed/,
    ],
    [
      "truncation",
      truncated,
      /^the checkpoint that was kept of 301 entries is newer than the log, which has 256: entries were lost$/,
    ],
    [
      "a fork",
      async (within: Database) => {
        await within.run(`${changeDetails('{"amount": 1}')}; ${emptied}`);
        await sealAgain(within);
      },
      /^the checkpoint that was kept of 301 entries is of another log: its entries were changed since$/,
    ],
    [
      "a signature with another key",
      async (within: Database) => {
        await within.run(emptied);
        await sealAgain(within, signerOf(signer.name, Buffer.alloc(32, 2)));
      },
      /is not signed with the key of the log$/,
    ],
    [
      "an older state of the database that went on",
      async (within: Database) => {
        await within.run(`
        ${emptied} delete from event_feed where event_id in (select id from event where resource_external_id = 'p149');
        delete from event where resource_external_id = 'p149';
        insert into event (resource_type, resource_external_id, timestamp, event_type, event_details)
        select 'payment', 'later' || n, now(), 'LATER', '{}' from generate_series(1, 9) as n;
        update event_feed set sql_transaction = 1 where event_id in (select id from event where event_type = 'LATER')`);
        await sealAgain(within);
      },
      /^the checkpoint that was kept of 301 entries is of another log/,
    ],
  ] as [string, string | ((within: Database) => Promise<unknown>), RegExp][])(
    "%s",
    async (_title, change, expected) => {
      expect(await differencesAfter(change)).toContainEqual(expect.stringMatching(expected));
    },
  );

  test("nothing else is", async () => {
    expect(await differences(database, [former])).toEqual([]);
  });

  test("the service signs nothing more", async () => {
    const work = database.transaction(async (sql) => {
      const within = { ...database, ...sql, transaction: (work) => work(sql) } as Database;
      await sql.run(
        `${truncated}; insert into transparency_checkpoint (size, note) values (301, '${former}')`,
      );
      await publish(within);
    });
    await expect(work).rejects.toThrow("the log had 301 entries and has 256");
  });
});
