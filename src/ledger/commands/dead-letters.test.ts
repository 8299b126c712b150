import { once } from "node:events";
import { statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { serialize } from "node:v8";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../../testing/free-port.ts";
import { message } from "../../../testing/messages.ts";
import { newFolder, run } from "../../../testing/run.ts";
import { openDatabase } from "../../database/databases.ts";
import { describeOnEngines } from "../../database/new-database.fixture.ts";
import { ingest } from "../intake/ingest.ts";
import { migrate } from "../tables/migrate.ts";

const escapeSequence = "\u001b[31m";
const letter = (source_id: string, body: string, reason = "an older rule") => ({ source_id, body, reason });
const examples = [
  letter("m1", JSON.stringify(message({ event_details: { note: escapeSequence } }))),
  letter(`m2${escapeSequence}`, '{"event_type":1}\u0000', "the message is not JSON"),
  letter("m3", JSON.stringify(message({ timestamp: "yesterday" })), "timestamp must be …"),
];

const linesIn = (output: string) => output.trim().split("\n");
const jsonIn = (output: string) => linesIn(output).map((line) => JSON.parse(line));

describeOnEngines("dead letters", (make) => {
  /** Makes a database that contains these dead letters. */
  async function newDatabase(letters = examples, script = "select") {
    const made = await make();
    const env = { DATABASE_URL: made.url, QUEUE_URL: `sqs+embedded:${newFolder()}?port=${await freePort()}` };
    await using database = await openDatabase(made.url);
    await migrate(database);
    const deadLetters = letters.map((letter) => ({ ...letter, body: Buffer.from(letter.body) }));
    // The first write of a message wins.
    const again = deadLetters.map((letter) => ({ ...letter, reason: "again" }));
    for (const written of [deadLetters, again])
      await ingest(database, { events: [], rebuilds: [], deadLetters: written });
    await database.run(script);
    const start = (...args: string[]) => run("src/ledger/commands/dead-letters.ts", { args, env });
    return {
      open: () => openDatabase(made.url),
      isServer: !made.url.startsWith("pglite:"),
      start,
      deadLetters: (...args: string[]) => start(...args).exit,
      [Symbol.asyncDispose]: () => made[Symbol.asyncDispose](),
    };
  }
  /** For tests that only read. */
  let shared: Awaited<ReturnType<typeof newDatabase>>;
  beforeAll(async () => {
    shared = await newDatabase();
  });
  afterAll(() => shared[Symbol.asyncDispose]());
  const deadLetters = (...args: string[]) => shared.deadLetters(...args);

  test("are listed with control characters escaped", async () => {
    const { code, output, errors } = await deadLetters("list");
    expect([code, errors]).toEqual([0, ""]);
    expect(output).not.toContain(escapeSequence);
    expect(linesIn(output).map((line) => line.replace(/ {2}\d{4}-\d\d-\d\dT[\d:.]+Z {2}/, " at "))).toEqual([
      "1 at m1  an older rule",
      "2 at m2\\u001b[31m  the message is not JSON",
      "3 at m3  timestamp must be …",
      "dead letters: 3",
    ]);
  });

  test("are shown with the exact body, also as JSON", async () => {
    const { code, output } = await deadLetters("show", "2");
    expect(code).toBe(0);
    expect(output).toMatch(/^number {5}2\ncreated at \S+Z\nsource id {2}m2/);
    expect(output.endsWith(`\n\n${examples[1]?.body}\n`)).toBe(true);
    const shown = JSON.parse((await deadLetters("show", "2", "--json")).output);
    expect(shown).toMatchObject({ id: 2, body: examples[1]?.body });
  });

  test("must exist", async () => {
    const errors = "dead-letters: there is no dead letter 77\n";
    for (const args of [
      ["show", "77"],
      ["replay", "1", "77"],
    ])
      expect(await deadLetters(...args)).toEqual({ code: 1, output: "", errors });
  });

  test("are not changed with --dry-run, which prints the outcome of each", async () => {
    const { code, output } = await deadLetters("replay", "--all", "--dry-run");
    expect(code).toBe(0);
    expect(linesIn(output)).toEqual([
      "1 would be stored",
      "2 would stay a dead letter: the message is not JSON",
      expect.stringMatching(/^3 would stay a dead letter: timestamp must /),
      "dead letters: 3; nothing was changed",
    ]);
    expect((await deadLetters("list")).output).toContain("dead letters: 3");
    expect(jsonIn((await deadLetters("replay", "1", "2", "--dry-run", "--json")).output)).toEqual([
      { id: 1, outcome: "stored" },
      { id: 2, outcome: "dead_letter", reason: "the message is not JSON" },
    ]);
  });

  test("are listed as JSON lines", async () => {
    const created_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+\.\d{6}Z$/);
    const open = { discarded_at: null, note: null, target: null };
    const rows = examples.map(({ body, ...row }, index) => ({ id: index + 1, created_at, ...row, ...open }));
    expect(jsonIn((await deadLetters("list", "--json")).output)).toEqual(rows);
  });

  test("are ingested by a replay; those that are still invalid keep their number and time, with the new reason", async () => {
    await using own = await newDatabase();
    const { deadLetters } = own;
    const before = jsonIn((await deadLetters("list", "--json")).output);
    const { code, output } = await deadLetters("replay", "--all");
    expect(code).toBe(0);
    expect(linesIn(output)).toEqual([
      "1 was stored",
      "2 stays a dead letter: the message is not JSON",
      expect.stringMatching(/^3 stays a dead letter: timestamp must /),
      "replayed 3 dead letters; 2 of them stay",
    ]);
    const after = jsonIn((await deadLetters("list", "--json")).output);
    const reason = expect.stringMatching(/^timestamp must (?!…)/);
    expect(after).toEqual([before[1], { ...before[2], reason }]);
    await using database = await own.open();
    expect(await database.query("select resource_external_id from event")).toEqual([
      { resource_external_id: message({}).resource_external_id },
    ]);
    expect(await database.query("select from transaction")).toHaveLength(1);
  });

  test("can be discarded with a note, and are kept", async () => {
    await using own = await newDatabase();
    const { deadLetters } = own;
    expect(
      await deadLetters(...["discard", "2", "3", "--note", ` agreed ${escapeSequence}`, "--reason", "trial"]),
    ).toMatchObject({
      code: 0,
      output: "discarded 2 dead letters\n",
    });
    expect((await deadLetters("list")).output).toMatch(/^1 .*\ndead letters: 1\n$/);
    const discarded = (await deadLetters("list", "--discarded")).output;
    expect(discarded).toMatch(/^2 .* {2}note: agreed \\u001b\[31m\n3 .*\ndiscarded dead letters: 2\n$/);
    const database = await own.open();
    expect(await database.query("select operation, resource_ids, reason from access_record")).toEqual([
      {
        ...{ operation: "command dead-letters discard", reason: "trial" },
        resource_ids: ["dead-letter/2", "dead-letter/3"],
      },
    ]);
    await database[Symbol.asyncDispose]();
    expect((await deadLetters("show", "2")).output).toMatch(/\ndiscarded {2}\S+Z: agreed/);
    for (const verb of [
      ["replay", "2"],
      ["discard", "2", "--note", "again"],
    ])
      expect(await deadLetters(...verb)).toMatchObject({
        code: 1,
        errors: "dead-letters: the dead letter 2 was discarded\n",
      });
    expect((await deadLetters("replay", "--all")).output).toContain(
      "replayed 1 dead letters; 0 of them stay",
    );
  });

  test("that are many are each replayed once; those that are too large or that the database rejects stay", async () => {
    const ids = [...Array.from({ length: 250 }, (_, index) => `many${index}`), "rejected"];
    const many = ids.map((id) => letter(id, JSON.stringify(message({ resource_external_id: id }))));
    await using own = await newDatabase(
      many,
      `alter table event add constraint planted check (resource_external_id <> 'rejected') not valid;
       insert into dead_letter (source_id, body, reason)
       select 'large', convert_to(repeat('x', 60000000), 'UTF8'), 'the message is larger than 1 MiB'`,
    );
    const dryRun = await own.deadLetters("replay", "--all", "--dry-run");
    expect(dryRun.output).toMatch(
      /would stay a dead letter: the message is larger than 1 MiB\ndead letters: 252;/,
    );
    // The second command on an embedded database uses that of the first, which ends.
    const replays = [own.start("replay", "--all")];
    if (own.isServer) replays.push(own.start("replay", "--all"));
    for (const { exit } of replays) expect((await exit).code).toBe(0);
    expect(linesIn((await own.deadLetters("list")).output)).toEqual([
      expect.stringMatching(/rejected {2}the database rejects it \(SQLSTATE 23514\)$/),
      expect.stringMatching(/large {2}the message is larger than 1 MiB$/),
      "dead letters: 2",
    ]);
    await using database = await own.open();
    expect(await database.query("select from event")).toHaveLength(250);
  });

  test("are listed without an error if the reader closes the pipe early", async () => {
    const many = Array.from({ length: 500 }, (_, index) => letter(`many${index}`, "{", "x".repeat(1000)));
    await using own = await newDatabase(many);
    const list = own.start("list");
    const { stdout } = list.child;
    stdout?.once("data", () => stdout.destroy());
    expect(await list.exit).toMatchObject({ code: 0, errors: "" });
  });
});

test("the commands use an embedded database while a ledger runs on it, and the ledger goes on", async () => {
  const folder = newFolder();
  const env = {
    DATABASE_URL: `pglite:${folder}`,
    QUEUE_URL: `sqs+embedded:${newFolder()}?port=${await freePort()}`,
    LEDGER_PORT: String(await freePort()),
  };
  const command = (name: string, ...args: string[]) => run(`src/ledger/commands/${name}.ts`, { args, env });
  const ledger = run("src/main.ts", { args: ["ledger"], env });
  await ledger.waitForOutput("listening");
  expect(await command("dead-letters", "list").exit).toMatchObject({
    code: 0,
    output: "there are no dead letters\n",
  });
  const invalid = `${JSON.stringify(message({ timestamp: "yesterday" }))}\n`;
  const sent = run("src/ledger/commands/send-events.ts", { args: ["-"], input: invalid, env });
  expect((await sent.exit).code).toBe(0);
  await ledger.waitForOutput("message became a dead letter");
  // The file of the socket is for its user only.
  expect(statSync(join(folder, "commands.sock")).mode & 0o777).toBe(0o600);
  const lists = Array.from({ length: 4 }, () => command("dead-letters", "list"));
  for (const { exit } of lists) expect((await exit).output).toMatch(/\ndead letters: 1\n$/);
  expect((await command("reproject", "--all").exit).output).toBe(
    "rebuilt 0 resources; 0 rows changed\n" + "the summaries did not differ from the transactions\n",
  );
  // A command that ends within its turn leaves nothing behind.
  const socket = connect(join(folder, "commands.sock"));
  await once(socket, "connect");
  const bytes = serialize({ script: "begin; lock table dead_letter" });
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  socket.write(Buffer.concat([length, bytes]));
  await once(socket, "data");
  socket.destroy();
  expect((await command("dead-letters", "discard", "1", "--note", "a trial").exit).code).toBe(0);
  expect((await fetch(`http://127.0.0.1:${env.LEDGER_PORT}/healthcheck`)).status).toBe(200);
  ledger.child.kill("SIGTERM");
  expect(await ledger.exit).toMatchObject({ code: 0, errors: "" });
  expect((await command("dead-letters", "list", "--discarded").exit).output).toContain("note: a trial");
});

const misused = [[], ["lost"], ["show"], ["show", "1", "2"], ["replay"], ["replay", "--all", "1"]];
test.each<[args: string[], complaint: string]>([
  ...misused.map((args): [string[], string] => [args, "expected list, show ID"]),
  [["discard", "--note", "x"], "expected list, show ID"],
  [["show", "one"], "one is not the number"],
  [["list", "--all"], "list has no option --all"],
  [["discard", "1"], "discard requires --note"],
  [["discard", "1", "--note", " "], "discard requires --note"],
  [["discard", "1", "--note", "x".repeat(1001)], "discard requires --note with 1 to 1000 characters"],
  [["replay", "--every"], "--every"],
])("dead-letters %j fails with a usage error", async (args, complaint) => {
  const { code, output, errors } = await run("src/ledger/commands/dead-letters.ts", { args }).exit;
  expect([code, output]).toEqual([2, ""]);
  expect(errors).toMatch(/^dead-letters: .*\n$/);
  expect(errors).toContain(complaint);
});
