import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pythonTools } from "../../../scripts/checks/python-tools.ts";
import { outputOf } from "../../../testing/child-process.ts";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { childStory, type EventMessage, story } from "../../../testing/messages.ts";
import { newFolder, run, withoutProgress } from "../../../testing/run.ts";
import { openDatabase } from "../../database/databases.ts";
import { describeOnEngines, newEmbedded } from "../../database/new-database.fixture.ts";
import { lockFolder, lockNames } from "../../process/folder-lock.ts";
import { exportNames, type Manifest } from "../export/manifest.ts";
import { redact } from "../intake/redact.ts";
import { feedIsComplete } from "../tables/feed/feed.fixture.ts";
import { readHead } from "../tables/transparency.ts";
import { startLedger } from "../tests/ledger.fixture.ts";
import { tagOf } from "../transparency/entry.ts";
import { leafHash } from "../transparency/merkle.ts";
import { isSignedBy, readCheckpoint, readNote, signerOf, signerText } from "../transparency/note.ts";

const program = "src/ledger/commands/export.ts";
const interval = ["--from", "2024-03-05", "--to", "2024-03-06"];

const tools = await pythonTools(["duckdb==1.5.6"]);
const python = "folder" in tools ? join(tools.folder, "python") : undefined;

const signer = signerOf("ledger.example.com/log", Buffer.alloc(32, 1));
const keyFile = join(newFolder(), "log.key");
writeFileSync(keyFile, signerText(signer));

/** A ledger with a log, and commands on its database. */
async function open(make: () => Promise<{ url: string } & AsyncDisposable> = newEmbedded) {
  const stack = new AsyncDisposableStack();
  const made = stack.use(await make());
  const ledger = stack.use(await startLedger({ open: () => openDatabase(made.url), signer }));
  const env = { DATABASE_URL: made.url, TLOG_KEY_FILE: keyFile };
  const start = (folder: string, ...args: string[]) => run(program, { args: [...args, folder], env });
  return {
    ...ledger,
    url: made.url,
    start,
    /** The key by which an owner finds the entries of an account. */
    async accountKey(account: string) {
      const { output } = await run("src/ledger/commands/log.ts", { args: ["account-key", account], env })
        .exit;
      return Buffer.from(output, "hex");
    },
    /** Exports to a new folder, or to this one. Resolves with its files. */
    async export(args: string[], folder = join(newFolder(), "export")) {
      const { code, output, errors } = await start(folder, ...args).exit;
      expect([code, withoutProgress(errors)]).toEqual([0, ""]);
      expect(output).toMatch(/^exported [\d,]+ transactions, [\d,]+ events, [\d,]+ payouts at the position /);
      return filesIn(folder);
    },
    /** Sends events, also of resources that exist, and waits until they are stored. */
    async arrive(...stories: EventMessage[][]) {
      const messages = stories.flat();
      const values = (["resource_external_id", "event_type", "timestamp"] as const).map((name) =>
        messages.map((message) => message[name]),
      );
      await ledger.send(...messages);
      await eventually(async () => {
        const missing = await ledger.database.query(
          `select from unnest($1::text[], $2::text[], $3::timestamptz[]) as sent (resource_external_id, event_type, timestamp)
           where not exists (select from event where
             (event.resource_external_id, event.event_type, event.timestamp)
             = (sent.resource_external_id, sent.event_type, sent.timestamp))`,
          values,
        );
        expect(missing).toEqual([]);
      });
    },
    async position(): Promise<string> {
      return (await ledger.request("/v1/payout?override_account_id_restriction=true")).headers[
        "ledger-position"
      ] as string;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
type Opened = Awaited<ReturnType<typeof open>>;

function filesIn(folder: string) {
  const names = readdirSync(folder).filter((name) => !name.endsWith(".part") && !lockNames.test(name));
  const texts = new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
  const manifest: Manifest = JSON.parse(String(texts.get("manifest.json")));
  return {
    folder,
    manifest,
    /** The names of the files and their SHA-256. */
    hashes: Object.fromEntries(
      [...texts].sort().map(([name, bytes]) => [name, createHash("sha256").update(bytes).digest("hex")]),
    ),
    /** The rows of ndjson, by the beginning of the names of their files. */
    rows: (kind: string) =>
      [...texts]
        .filter(([name]) => name.startsWith(kind))
        .sort()
        .flatMap(([, bytes]) => String(bytes).split("\n").slice(0, -1))
        .map((line) => JSON.parse(line)),
  };
}

const minute = (index: number) =>
  `${String(8 + Math.floor(index / 60)).padStart(2, "0")}:${String(index % 60).padStart(2, "0")}`;

/** Payments with all kinds of children and payouts, of two accounts. */
function stories(count: number, first = 0) {
  return Array.from({ length: count }, (_, offset) => {
    const index = first + offset;
    const id = `pay${String(index).padStart(4, "0")}`;
    const account = { gateway_account_id: index % 3 === 0 ? "58" : "57" };
    const [at, later] = [minute(index), minute(index + 1)];
    return [
      ...story(
        "payment",
        id,
        [at, "PAYMENT_CREATED", { ...account, amount: 1000 + index, reference: `a,"b" ${index} £` }],
        ...(index % 4 === 0
          ? []
          : [
              [
                later,
                index % 4 === 1 ? "PAYMENT_EXPIRED" : "CAPTURE_CONFIRMED",
                { total_amount: 1001 + index, fee: 5, gateway_payout_id: `po${index % 5}` },
              ] as [string, string, object],
            ]),
      ),
      ...(index % 6 === 2
        ? childStory("refund", `ref-${id}`, id, [
            later,
            "REFUND_CREATED_BY_USER",
            { ...account, amount: 10, external_metadata: { b: 1, long: "=1+1" } },
          ])
        : []),
      ...(index % 7 === 3
        ? story("payout", `po-${id}`, [later, "PAYOUT_CREATED", { ...account, amount: 500 + index }])
        : []),
    ];
  });
}

/** Late events, which change what was stored: earlier instants, other states, other accounts and new resources. */
const lateStories = (index: number) => [
  story("payment", `pay${String(index).padStart(4, "0")}`, [
    "07:00",
    "PAYMENT_DETAILS_ENTERED",
    { email: "late@example.com", gateway_payout_id: "po1" },
  ]),
  story("payment", `pay${String(index + 1).padStart(4, "0")}`, ["23:00", "PAYMENT_INCLUDED_IN_PAYOUT", {}]),
  story("payout", `po-pay${String(index - (index % 7) + 3).padStart(4, "0")}`, [
    `${String(12 + (index % 10))}:30`,
    "PAYOUT_PAID",
    { paid_out_date: "2024-03-06T00:00:00Z" },
  ]),
  story("payment", `late${index}`, [minute(index), "PAYMENT_CREATED", { amount: 7 }]),
];

/** Everything that a list of the API shows, oldest first. */
async function listOf(ledger: Opened, path: string) {
  const pages = await ledger.pages(path, "next_page");
  return pages.flatMap((page) => page.results).reverse();
}

/** What the API shows of a position, with the sums of its report. */
async function shownAt(ledger: Opened, position: string, account = "override_account_id_restriction=true") {
  const dates = "from_date=2024-03-04T23:59:59.999999Z&to_date=2024-03-06T00:00:00Z";
  const query = `${account}&${dates}&known_at=${position}`;
  const report = await ledger.get(`/v1/report/transactions?${query}&group_by=type,state`);
  const sums = report.groups.map(({ type, state, count, amount, total_amount }: Record<string, unknown>) => ({
    transaction_type: type,
    state,
    count,
    amount: String(amount),
    total_amount: String(total_amount),
  }));
  const byText = (one: object, other: object) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
  return {
    transactions: await listOf(ledger, `/v1/transaction?${query}&display_size=100`),
    sums: sums.sort(byText),
  };
}

describeOnEngines("export", (make) => {
  test("has what the API shows at each position, with the sums of its report, whatever has changed since", async () => {
    await using ledger = await open(make);
    const positions: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      await ledger.store(...stories(15, 15 * round));
      positions.push(await ledger.position());
      await ledger.arrive(...lateStories(15 * round), ...lateStories(15 * round + 6));
      positions.push(await ledger.position());
      await ledger.database.query("select merge_transaction_summary_changes(1000)");
    }
    // A position between two events of one SQL transaction.
    await feedIsComplete(ledger.database);
    const feed = await ledger.get("/v1/event");
    positions.push(feed.events[20].cursor, feed.events[41].cursor);
    for (const position of positions) {
      const shown = await shownAt(ledger, position);
      expect(shown.transactions.length).toBeGreaterThan(5);
      const { manifest, rows } = await ledger.export([
        ...interval,
        ...["--format", "ndjson", "--known-at", position, "--rows-per-file", "7"],
      ]);
      expect(rows("transactions").map((row) => row.transaction_id)).toEqual(
        shown.transactions.map((row) => row.transaction_id),
      );
      expect(rows("transactions")).toEqual(shown.transactions.map(({ _links: _, ...row }) => row));
      expect(manifest.sums.transactions).toEqual(shown.sums);
      const payouts = await ledger.get(
        `/v1/payout?override_account_id_restriction=true&display_size=500&known_at=${position}`,
      );
      expect(rows("payouts")).toEqual(payouts.results.reverse());
      expect(manifest).toMatchObject({
        complete: true,
        known_at: position,
        counts: {
          transactions: shown.transactions.length,
          events: rows("events").length,
          payouts: payouts.total,
        },
      });
      const [event] = rows("events");
      expect(event).toEqual(await ledger.get(`/v1/event/${event.event_id}`));
    }
  });

  test("has the same bytes at a position, while events arrive", async () => {
    await using ledger = await open(make);
    await ledger.store(...stories(60));
    const args = [...interval, "--format", "ndjson", "--rows-per-file", "10"];
    const first = await ledger.export(args);
    const again = [...args, "--known-at", first.manifest.known_at];
    const stop = new AbortController();
    const receiving = (async () => {
      for (let index = 0; !stop.signal.aborted; index += 1) await ledger.arrive(...lateStories(index % 200));
    })();
    await eventually(async () => expect((await ledger.position()) === first.manifest.known_at).toBe(false));
    try {
      for (let time = 0; time < 2; time += 1)
        expect((await ledger.export(again)).hashes).toEqual(first.hashes);
    } finally {
      stop.abort();
      await receiving;
    }
    for (const format of ["csv", "parquet"]) {
      const of = [...interval, "--format", format, "--known-at", first.manifest.known_at];
      const one = await ledger.export(of);
      await ledger.arrive(...lateStories(200));
      expect((await ledger.export(of)).hashes).toEqual(one.hashes);
    }
  });

  test.each(["SIGTERM", "SIGKILL"] as const)("goes on after %s with the same bytes", async (signal) => {
    await using ledger = await open(make);
    await ledger.store(...stories(60));
    const args = [...interval, "--format", "ndjson", "--rows-per-file", "20"];
    const folder = join(newFolder(), "export");
    mkdirSync(folder);
    // A pipe in the place of the third file holds the command there.
    const pipe = join(folder, "transactions-00003.ndjson.part");
    await outputOf(["mkfifo", pipe]);
    const { child, exit } = ledger.start(folder, ...args);
    await eventually(() => expect(filesIn(folder).manifest.files).toHaveLength(2));
    child.kill(signal);
    if (signal === "SIGTERM") {
      // It reads the pipe, so that the command goes on and sees the signal.
      await outputOf(["cat", pipe]);
      expect(await exit).toMatchObject({
        code: 1,
        errors: expect.stringContaining("export: stopped; run the command again to go on\n"),
      });
    } else {
      await exit;
      rmSync(pipe);
    }
    const { known_at, complete } = filesIn(folder).manifest;
    expect(complete).toBe(false);
    await ledger.arrive(...lateStories(3), ...lateStories(40));
    const resumed = await ledger.export(args, folder);
    const whole = await ledger.export([...args, "--known-at", known_at]);
    expect(resumed.hashes).toEqual(whole.hashes);
    expect(resumed.manifest.files.length).toBeGreaterThan(5);
    // It is whole, so nothing is left to do.
    expect((await ledger.export(args, folder)).hashes).toEqual(whole.hashes);
    const { code, errors } = await ledger.start(folder, ...args, "--account", "57").exit;
    expect([code, errors]).toEqual([
      1,
      `export: the folder ${folder} has another export: its account is null, and not 57\n`,
    ]);
    rmSync(join(folder, "events-00001.ndjson"));
    expect((await ledger.start(folder, ...args).exit).errors).toBe(
      `export: the file ${join(folder, "events-00001.ndjson")} is not as the export has left it; begin in an empty folder\n`,
    );
  });

  test("has the transactions, events and payouts of one account only", async () => {
    await using ledger = await open(make);
    await ledger.store(...stories(60));
    const { manifest, rows } = await ledger.export([...interval, "--format", "ndjson", "--account", "58"]);
    const shown = await shownAt(ledger, manifest.known_at, "account_id=58");
    expect(rows("transactions")).toEqual(shown.transactions.map(({ _links: _, ...row }) => row));
    expect(manifest.sums.transactions).toEqual(shown.sums);
    await feedIsComplete(ledger.database);
    const feed = await ledger.get("/v1/event?account_id=58");
    const ids = (events: { event_id: number }[]) => events.map(({ event_id }) => event_id).sort();
    expect(ids(rows("events"))).toEqual(ids(feed.events));
    expect(rows("payouts").map(({ gateway_account_id }) => gateway_account_id)).toEqual(
      Array.from({ length: manifest.counts.payouts }, () => "58"),
    );
    expect(manifest.counts.payouts).toBeGreaterThan(0);
  });

  test("rests on a checkpoint of the log, in which the owner of an account finds each of its events", async () => {
    await using ledger = await open(make);
    await ledger.store(...stories(60));
    await feedIsComplete(ledger.database);
    const args = ["--from", "2024-03-01", "--to", "2024-04-01", "--format", "ndjson", "--account", "57"];
    const { manifest, rows } = await ledger.export(args);
    const note = readNote(manifest.checkpoint ?? "");
    if (!note) throw new Error("the manifest has no checkpoint");
    expect(isSignedBy(note, signer.verifier)).toBe(true);
    const { size, root } = readCheckpoint(note.text) ?? { size: 0 };
    expect(size).toBe(stories(60).flat().length);

    // The log goes on, and the same position has the same checkpoint.
    await ledger.arrive(...lateStories(3));
    await eventually(async () =>
      expect(Number((await readHead(ledger.database)).size)).toBeGreaterThan(size),
    );
    const again = await ledger.export([...args, "--known-at", manifest.known_at]);
    expect(again.manifest).toEqual(manifest);

    const entries = await publicEntries(ledger, size);
    expect(treeHashOf(entries.map(leafHash))).toEqual(root);
    const key = await ledger.accountKey("57");
    const own = entries.filter((entry, index) => entry.subarray(0, 16).equals(tagOf(key, index)));
    expect(own.length).toBe(rows("events").length);
    expect(own.length).toBe(manifest.counts.events);
  });

  test("has a checkpoint without TLOG_KEY_FILE only if the database is embedded", async () => {
    await using made = await make();
    {
      await using ledger = await startLedger({ open: () => openDatabase(made.url) });
      await ledger.store(...stories(2));
    }
    const folder = join(newFolder(), "export");
    const args = [...interval, "--format", "csv", folder];
    expect(await run(program, { args, env: { DATABASE_URL: made.url } }).exit).toMatchObject({ code: 0 });
    const { checkpoint } = filesIn(folder).manifest;
    if (made.url.startsWith("pglite:")) expect(checkpoint).toMatch(/^payment-ledger\/[\w-]+\n3\n/);
    else expect(checkpoint).toBe(null);
  });
});

/** The first entries of the log, as everybody can read them. */
async function publicEntries(ledger: Opened, size: number): Promise<Buffer[]> {
  expect(size).toBeLessThan(256);
  const response = await fetch(`${ledger.base}/log/tile/entries/000.p/${size}`);
  const bundle = Buffer.from(await response.arrayBuffer());
  // Each has its length before it, in two bytes.
  return Array.from({ length: size }, (_, index) => bundle.subarray(index * 50 + 2, (index + 1) * 50));
}

/** The root of a Merkle tree (RFC 6962, section 2.1). */
function treeHashOf(leaves: Buffer[]): Buffer {
  const [only, second] = leaves;
  if (only && !second) return only;
  const split = 2 ** Math.floor(Math.log2(leaves.length - 1));
  const parts = [leaves.slice(0, split), leaves.slice(split)].map(treeHashOf);
  return createHash("sha256")
    .update(Buffer.concat([Buffer.of(1), ...parts]))
    .digest();
}

/** What the Python program prints as JSON. */
const inPython = async (text: string) => JSON.parse(await outputOf([python ?? "", "-c", text]));

/** The numbers of rows and sums that duckdb finds in the files of an export. */
const sumsInDuckdb = (folder: string, format: string, select: Record<string, string>) =>
  inPython(`
import duckdb, json
select = json.loads(r"""${JSON.stringify(select)}""")
read = {"ndjson": "read_json", "csv": "read_csv", "parquet": "read_parquet"}["${format}"]
options = {"csv": ", all_varchar = true, header = true, quote = '\\"'", "parquet": "", "ndjson": ""}["${format}"]
print(json.dumps({kind: [[str(value) for value in row] for row in
  duckdb.sql(f"select {columns} from {read}('${folder}/{kind}-*.${format}'{options}) group by all order by all").fetchall()]
  for kind, columns in select.items()}))`);

describeIfAvailable("Python with pip", python !== undefined)("duckdb", () => {
  const ofTypedColumns = {
    transactions:
      "transaction_type, state, count(*), coalesce(sum(amount), 0)::bigint, coalesce(sum(total_amount), 0)::bigint",
    events: "resource_type, event_type, count(*)",
    payouts: "state, count(*), sum(amount)::bigint",
  };
  const pence = (column: string) =>
    `coalesce(sum(abs(round(100 * replace("${column}", ',', '')::decimal(20, 2)))), 0)::bigint`;
  test.each([
    [
      "ndjson",
      {
        ...ofTypedColumns,
        transactions: ofTypedColumns.transactions.replace("state", "state.status"),
        payouts: ofTypedColumns.payouts.replace("state", "state.status"),
      },
    ],
    ["parquet", ofTypedColumns],
    [
      "csv",
      {
        events: ofTypedColumns.events,
        payouts: "state, count(*), sum(amount::bigint)::bigint",
        transactions: `upper(Type), 'any', count(*), ${pence("Amount")}, 'any'`,
      },
    ],
  ])("reads the %s of an export and finds the counts and sums of the manifest", async (format, select) => {
    await using ledger = await open();
    await ledger.store(...stories(60));
    for (const to of ["2024-03-06", "2024-03-04"]) {
      const { folder, manifest } = await ledger.export([
        ...["--from", "2024-03-03", "--to", to, "--format", format, "--rows-per-file", "25"],
      ]);
      // duckdb finds no columns in a file of ndjson without rows.
      if (format === "ndjson" && to === "2024-03-04") continue;
      const found = await sumsInDuckdb(folder, format, select);
      const { sums } = manifest;
      const values = (groups: object[]) => groups.map((group) => Object.values(group).map(String));
      expect(found.events).toEqual(values(sums.events));
      expect(found.payouts).toEqual(values(sums.payouts));
      expect(found.transactions).toEqual(
        format === "csv" ? byType(sums.transactions) : values(sums.transactions),
      );
      expect(manifest.files.map(({ name }) => name)).toContain(
        `transactions-0000${to === "2024-03-06" ? 3 : 1}.${format}`,
      );
    }
  });

  /** CSV has statuses of its own. */
  const byType = (groups: Manifest["sums"]["transactions"]) =>
    [...Map.groupBy(groups, (group) => String(group.transaction_type))]
      .sort()
      .map(([type, own]) => [
        type,
        "any",
        String(own.reduce((sum, { count }) => sum + Number(count), 0)),
        String(own.reduce((sum, { amount }) => sum + Number(amount), 0)),
        "any",
      ]);

  test("has the types of the columns of Parquet, with instants to the microsecond", async () => {
    await using ledger = await open();
    await ledger.store(story("payment", "pay1", ["09:00:00.123456", "PAYMENT_CREATED", { amount: 5 }]));
    const { folder } = await ledger.export([...interval, "--format", "parquet"]);
    const [row] = await inPython(`
import duckdb, json
duckdb.sql("set timezone = 'UTC'")
print(json.dumps(duckdb.sql("""select typeof(created_date), created_date::varchar, typeof(amount), details->>'amount',
  typeof(live) from '${folder}/transactions-*.parquet'""").fetchall()))`);
    expect(row).toEqual([
      "TIMESTAMP WITH TIME ZONE",
      "2024-03-05 09:00:00.123456+00",
      "BIGINT",
      "5",
      "BOOLEAN",
    ]);
  });
});

test("has the same bytes after more transactions have changed than a page has", async () => {
  await using ledger = await open();
  const payments = Array.from({ length: 2300 }, (_, index) =>
    story("payment", `pay${index}`, [
      `10:${String(index % 60).padStart(2, "0")}:${String(Math.floor(index / 60)).padStart(2, "0")}`,
      "PAYMENT_CREATED",
      { amount: index },
    ]),
  );
  await ledger.store(...payments);
  const args = [...interval, "--format", "ndjson"];
  const first = await ledger.export(args);
  expect(first.manifest.counts.transactions).toBe(2300);
  await ledger.arrive(
    ...payments.map((_, index) =>
      story("payment", `pay${index}`, [
        index % 3 === 0 ? "10:30:30.5" : index % 3 === 1 ? "09:00" : "23:00",
        "CAPTURE_CONFIRMED",
        index % 5 === 0 ? { gateway_account_id: "58" } : {},
      ]),
    ),
    ...payments.map((_, index) => story("payment", `late${index}`, ["10:00", "PAYMENT_CREATED"])),
  );
  const again = [...args, "--known-at", first.manifest.known_at];
  expect((await ledger.export(again)).hashes).toEqual(first.hashes);
  expect((await ledger.export(args)).manifest.counts.transactions).toBe(4600);
});

test("has <REDACTED> in the place of erased values", async () => {
  await using ledger = await open();
  await ledger.store(
    story("payment", "pay1", ["09:00", "PAYMENT_CREATED", { amount: 5, email: "secret@example.com" }]),
  );
  const position = await ledger.position();
  await redact(ledger.database, ["pay1"], false);
  for (const format of ["ndjson", "csv"]) {
    const { folder, manifest } = await ledger.export([
      ...interval,
      ...["--format", format, "--known-at", position],
    ]);
    for (const { name } of manifest.files)
      expect(String(readFileSync(join(folder, name)))).not.toContain("secret");
    expect(String(readFileSync(join(folder, `transactions-00001.${format}`)))).toContain("<REDACTED>");
  }
});

describe("the command rejects", () => {
  let ledger: Opened;
  beforeAll(async () => {
    ledger = await open();
  });
  afterAll(() => ledger[Symbol.asyncDispose]());
  const inFile = join(newFolder(), "file");
  writeFileSync(inFile, "");
  const others = newFolder();
  writeFileSync(join(others, "notes.txt"), "");
  const all = [...interval, "--format", "csv"];
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  test.each<[what: string, code: number, text: string, args: string[], folder?: string]>([
    ["no interval", 2, "expected --from and --to", ["--format", "csv"]],
    ["an unknown format", 2, "expected --format ndjson|csv|parquet", [...interval, "--format", "xml"]],
    ["no format", 2, "expected --format ndjson|csv|parquet", interval],
    [
      "a day that does not exist",
      2,
      "--to must be a day or an instant of RFC 3339; 2024-02-30 is neither",
      ["--from", "2024-01-01", "--to", "2024-02-30", "--format", "csv"],
    ],
    [
      "an empty interval",
      2,
      "--from must be before --to",
      ["--from", "2024-01-02", "--to", "2024-01-02T00:00:00Z", "--format", "csv"],
    ],
    [
      "files without rows",
      2,
      "--rows-per-file must be a number from 1 to 999999999",
      [...all, "--rows-per-file", "0"],
    ],
    ["an unknown option", 2, "'--limit'", [...all, "--limit", "1"]],
    [
      "an unknown account",
      1,
      "nothing in the ledger has the account nobody",
      [...all, "--account", "nobody"],
    ],
    [
      "a text that is no position",
      1,
      "the ledger has no such position; --known-at must be a day",
      [...all, "--known-at", "nonsense"],
    ],
    [
      "a text that begins with a hyphen and is no position",
      1,
      "the ledger has no such position; --known-at must be a day",
      [...all, "--known-at", "-nonsense"],
    ],
    [
      "a day that is not over",
      1,
      `--known-at must be a day that is over; ${tomorrow} is not in UTC`,
      [...all, "--known-at", tomorrow],
    ],
    ["a folder with other files", 1, "has other files, such as notes.txt", all, others],
    [
      "a folder below a file",
      1,
      "cannot be written: a part of its path is a file",
      all,
      join(inFile, "folder"),
    ],
  ])("%s", async (_, code, text, args, folder = join(newFolder(), "export")) => {
    const found = await ledger.start(folder, ...args).exit;
    expect(found).toMatchObject({ code, output: "", errors: expect.stringContaining(`export: `) });
    expect(found.errors).toContain(text);
  });

  test("a folder in which another export is in progress, and no folder", async () => {
    const folder = newFolder();
    using _lock = lockFolder(folder, exportNames, () => {});
    expect((await ledger.start(folder, ...all).exit).errors).toContain(
      `the folder ${folder} is in use by process `,
    );
    expect((await run(program, { args: all }).exit).errors).toContain("expected one folder");
  });
});
