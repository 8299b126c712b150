import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../../testing/free-port.ts";
import { message } from "../../../testing/messages.ts";
import { newFolder, run } from "../../../testing/run.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import { openDatabase } from "../database/database.ts";
import { describeOnEngines, type NewDatabase } from "../database/new-database.fixture.ts";
import { ingest } from "../intake/ingest.ts";
import { readMessage } from "../intake/message.ts";
import { openQueue } from "../queue/queue.ts";
import { migrate } from "../tables/migrate.ts";

const escapeSequence = "\u001b[31m";
const examples = [
  {
    source_id: "m1",
    body: JSON.stringify(message({ event_details: { note: escapeSequence } })),
    reason: "an older rule",
  },
  { source_id: `m2${escapeSequence}`, body: '{"event_type":1}\u0000', reason: "the message is not JSON" },
  {
    source_id: "m3",
    body: JSON.stringify(message({ timestamp: "yesterday" })),
    reason: "timestamp must be …",
  },
];

const withBytes = (messages: { source_id: string; body: string; reason: string }[]) =>
  messages.map((message) => ({ ...message, body: Buffer.from(message.body) }));

describeOnEngines("dead letters", (make) => {
  /** Makes a database that contains the examples. */
  async function storeExamples() {
    const made = await make();
    const env = { DATABASE_URL: made.url, QUEUE_URL: `sqs+embedded:${newFolder()}?port=${await freePort()}` };
    await using database = await openDatabase(made.url);
    await migrate(database);
    await ingest(database, { events: [], rebuilds: [], deadLetters: withBytes(examples) });
    return {
      env,
      deadLetters: (...args: string[]) => run("src/ledger/commands/dead-letters.ts", { args, env }).exit,
      [Symbol.asyncDispose]: () => made[Symbol.asyncDispose](),
    };
  }
  /** For tests that only read. */
  let shared: Awaited<ReturnType<typeof storeExamples>>;
  beforeAll(async () => {
    shared = await storeExamples();
  });
  afterAll(() => shared[Symbol.asyncDispose]());
  const deadLetters = (...args: string[]) => shared.deadLetters(...args);

  test("are listed with control characters escaped", async () => {
    const { code, output, errors } = await deadLetters("list");
    expect([code, errors]).toEqual([0, ""]);
    expect(output).not.toContain(escapeSequence);
    const lines = output.trim().split("\n");
    expect(lines.map((line) => line.replace(/ {2}\d{4}-\d\d-\d\dT[\d:.]+Z {2}/, " at "))).toEqual([
      "1 at m1  an older rule",
      "2 at m2\\u001b[31m  the message is not JSON",
      "3 at m3  timestamp must be …",
      "dead letters: 3",
    ]);
  });

  test("are shown with the exact body", async () => {
    const { code, output } = await deadLetters("show", "2");
    expect(code).toBe(0);
    expect(output).toMatch(/^number {5}2\ncreated at \S+Z\nsource id {2}m2/);
    expect(output.endsWith(`\n\n${examples[1]?.body}\n`)).toBe(true);
  });

  test.each([
    ["show", "77"],
    ["replay", "1", "77"],
  ])("must exist: %s %s", async (...args) => {
    expect(await deadLetters(...args)).toEqual({
      code: 1,
      output: "",
      errors: "dead-letters: there is no dead letter 77\n",
    });
  });

  test("are not sent with --dry-run, which prints the outcome of each", async () => {
    const { code, output } = await deadLetters("replay", "--all", "--dry-run");
    expect(code).toBe(0);
    expect(output.split("\n")).toEqual([
      "1 would be stored",
      expect.stringMatching(/^2 would become a dead letter again: the message is not JSON$/),
      expect.stringMatching(/^3 would become a dead letter again: timestamp must /),
      "dead letters: 3; nothing was sent",
      "",
    ]);
    expect((await deadLetters("list")).output).toContain("dead letters: 3");
  });

  test("are sent to the queue and removed", async () => {
    await using own = await storeExamples();
    const { env, deadLetters } = own;
    expect(await deadLetters("replay", "3")).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^sent 1 messages to sqs/),
    });
    expect((await deadLetters("list")).output).toMatch(/\ndead letters: 2\n$/);
    await using queue = await openQueue(env.QUEUE_URL);
    const [delivery] = await queue.receive(1, 5000, AbortSignal.timeout(testWaitMaxMs));
    expect(readMessage(delivery?.body ?? "")).toMatchObject({ kind: "invalid" });
  });

  test("are kept when the queue rejects them", async () => {
    await using own = await storeExamples();
    const { deadLetters } = own;
    const { code, errors } = await deadLetters("replay", "2");
    expect([code, errors.slice(0, 14)]).toEqual([1, "dead-letters: "]);
    expect((await deadLetters("list")).output).toMatch(/\ndead letters: 3\n$/);
  });
});

describeOnEngines("a dead letter that is still invalid when it is replayed", (make) => {
  test("is stored once, with the newest reason", async () => {
    await using made = await make();
    const env = {
      DATABASE_URL: made.url,
      QUEUE_URL: `sqs+embedded:${newFolder()}?port=${await freePort()}`,
      LEDGER_PORT: "0",
    };
    {
      await using database = await openDatabase(made.url);
      await migrate(database);
      const invalid = [{ source_id: "m1", body: '{"event_type":', reason: "an older rule" }];
      await ingest(database, { events: [], rebuilds: [], deadLetters: withBytes(invalid) });
    }
    const deadLetters = (...args: string[]) => run("src/ledger/commands/dead-letters.ts", { args, env }).exit;
    expect((await deadLetters("replay", "1")).code).toBe(0);
    const ledger = run("src/main.ts", { args: ["ledger"], env });
    await ledger.waitForOutput("message became a dead letter");
    ledger.child.kill("SIGTERM");
    expect(await ledger.exit).toMatchObject({ code: 0, errors: "" });
    expect((await deadLetters("list")).output).toMatch(
      /^2 .* {2}the message is not JSON\ndead letters: 1\n$/,
    );
    expect((await deadLetters("show", "2")).output).toMatch(/\n\n\{"event_type":\n$/);
  });
});

describeOnEngines("a very large dead letter", (make) => {
  let made: NewDatabase;
  beforeAll(async () => {
    made = await make();
    await using database = await openDatabase(made.url);
    await migrate(database);
    await database.run(
      `insert into dead_letter (source_id, body, reason)
       select 'large', convert_to(repeat('x', 60000000), 'UTF8'), 'the message is larger than 1 MiB'
       union all select 'small', '{}', 'event_type is required'`,
    );
  });
  afterAll(() => made[Symbol.asyncDispose]());
  const deadLetters = (args: string[], env = {}) =>
    run("src/ledger/commands/dead-letters.ts", { args, env: { DATABASE_URL: made.url, ...env } }).exit;

  test("is not replayed, and the others are", async () => {
    const dryRun = await deadLetters(["replay", "--all", "--dry-run"]);
    expect(dryRun.output).toContain(
      "1 would stay a dead letter: it is larger than 1 MiB\n2 would become a dead letter again",
    );
    const QUEUE_URL = `sqs+embedded:${newFolder()}?port=${await freePort()}`;
    const { code, output } = await deadLetters(["replay", "--all"], { QUEUE_URL });
    expect([code, output]).toEqual([0, expect.stringMatching(/^sent 1 messages /)]);
    expect((await deadLetters(["list"])).output).toMatch(/^1 .* large .*\ndead letters: 1\n$/);
  });
});

describeOnEngines("many dead letters", (make) => {
  test("are each replayed once", async () => {
    await using made = await make();
    const many = Array.from({ length: 250 }, (_, index) => ({
      source_id: `many${index}`,
      body: String(index),
      reason: "many",
    }));
    {
      await using database = await openDatabase(made.url);
      await migrate(database);
      // The first write of a message wins.
      const again = many.map((message) => ({ ...message, reason: "again" }));
      for (const messages of [many, again])
        await ingest(database, { events: [], rebuilds: [], deadLetters: withBytes(messages) });
      expect(await database.query("select distinct reason from dead_letter")).toEqual([{ reason: "many" }]);
    }
    const env = { DATABASE_URL: made.url, QUEUE_URL: `sqs+embedded:${newFolder()}?port=${await freePort()}` };
    await using queue = await openQueue(env.QUEUE_URL);
    // Only one process at a time can open an embedded database.
    const replays = Array.from({ length: made.url.startsWith("pglite:") ? 1 : 2 }, () =>
      run("src/ledger/commands/dead-letters.ts", { args: ["replay", "--all"], env }),
    );
    const outputs = await Promise.all(replays.map(async ({ exit }) => (await exit).output));
    const sent = outputs.map((output) => Number(/^sent (\d+) /.exec(output)?.[1]));
    expect(sent.reduce((sum, count) => sum + count)).toBe(250);
    const bodies: string[] = [];
    while (bodies.length < 250) {
      const deliveries = await queue.receive(100, 5000, AbortSignal.timeout(testWaitMaxMs));
      bodies.push(...deliveries.map(({ body }) => body));
      await queue.acknowledge(deliveries);
    }
    expect(bodies.sort()).toEqual(many.map(({ body }) => body).sort());
    expect((await queue.check()).waiting).toBe(0);
  });

  test("are listed without an error if the reader closes the pipe early", async () => {
    await using made = await make();
    {
      await using database = await openDatabase(made.url);
      await migrate(database);
      const many = Array.from({ length: 500 }, (_, index) => ({
        source_id: `many${index}`,
        body: "{",
        reason: "x".repeat(1000),
      }));
      await ingest(database, { events: [], rebuilds: [], deadLetters: withBytes(many) });
    }
    const list = run("src/ledger/commands/dead-letters.ts", {
      args: ["list"],
      env: { DATABASE_URL: made.url },
    });
    const { stdout } = list.child;
    stdout?.once("data", () => stdout.destroy());
    const { code, errors } = await list.exit;
    expect([code, errors]).toEqual([0, ""]);
  });
});

test.each([
  [[], "expected list, show ID"],
  [["lost"], "expected list, show ID"],
  [["show"], "expected list, show ID"],
  [["show", "1", "2"], "expected list, show ID"],
  [["show", "one"], "one is not the number"],
  [["replay"], "expected list, show ID"],
  [["replay", "--all", "1"], "expected list, show ID"],
  [["list", "--all"], "only replay has options"],
  [["replay", "--every"], "--every"],
])("dead-letters %j fails with a usage error", async (args, complaint) => {
  const { code, output, errors } = await run("src/ledger/commands/dead-letters.ts", { args }).exit;
  expect([code, output]).toEqual([2, ""]);
  expect(errors).toMatch(/^dead-letters: .*\n$/);
  expect(errors).toContain(complaint);
});
