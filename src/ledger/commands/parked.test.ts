import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../service/free-port.fixture.ts";
import { newFolder, run } from "../../service/run.fixture.ts";
import { openDatabase } from "../database/database.ts";
import { describeOnEngines, type NewDatabase } from "../database/new-database.fixture.ts";
import { ingest } from "../intake/ingest.ts";
import { readMessage } from "../intake/message.ts";
import { message } from "../ledger.fixture.ts";
import { openQueue } from "../queue/queue.ts";
import { migrate } from "../tables/migrate.ts";

const steering = "\u001b[31m";
const parked = [
  {
    source_id: "m1",
    body: JSON.stringify(message({ event_details: { note: steering } })),
    reason: "an older rule",
  },
  { source_id: `m2${steering}`, body: '{"event_type":1}\u0000', reason: "the message is not JSON" },
  {
    source_id: "m3",
    body: JSON.stringify(message({ timestamp: "yesterday" })),
    reason: "timestamp must be …",
  },
];

describeOnEngines("parked messages", (make) => {
  let made: NewDatabase;
  let env: { DATABASE_URL: string; QUEUE_URL: string };
  beforeAll(async () => {
    made = await make();
    env = { DATABASE_URL: made.url, QUEUE_URL: `sqs+embedded:${newFolder()}?port=${await freePort()}` };
    await using database = await openDatabase(made.url);
    await migrate(database);
    await ingest(database, { events: [], reprojections: [], parked });
  });
  afterAll(() => made[Symbol.asyncDispose]());
  const parkedCommand = (...args: string[]) => run("ledger/commands/parked.ts", { args, env }).ended;

  test("are listed, in lines that steer no terminal", async () => {
    const { code, output, errors } = await parkedCommand("list");
    expect([code, errors]).toEqual([0, ""]);
    expect(output).not.toContain(steering);
    const lines = output.trim().split("\n");
    expect(lines.map((line) => line.replace(/ {2}\d{4}-\d\d-\d\dT[\d:.]+Z {2}/, " at "))).toEqual([
      "1 at m1  an older rule",
      "2 at m2\\u001b[31m  the message is not JSON",
      "3 at m3  timestamp must be …",
      "3 parked",
    ]);
  });

  test("are shown, with the body as it came", async () => {
    const { code, output } = await parkedCommand("show", "2");
    expect(code).toBe(0);
    expect(output).toMatch(/^number {5}2\nparked at {2}\S+Z\nsource id {2}m2/);
    expect(output.endsWith(`\n\n${parked[1]?.body}\n`)).toBe(true);
  });

  test.each([
    ["show", "77"],
    ["replay", "1", "77"],
  ])("must be there to %s %s", async (...args) => {
    expect(await parkedCommand(...args)).toEqual({
      code: 1,
      output: "",
      errors: "parked: no message 77 is parked\n",
    });
  });

  test("are not replayed when it is only asked what would be", async () => {
    const { code, output } = await parkedCommand("replay", "--all", "--dry-run");
    expect(code).toBe(0);
    expect(output.split("\n")).toEqual([
      "1 would be stored",
      expect.stringMatching(/^2 would be parked again: the message is not JSON$/),
      expect.stringMatching(/^3 would be parked again: timestamp must /),
      "3 would be sent; nothing was",
      "",
    ]);
    expect((await parkedCommand("list")).output).toContain("3 parked");
  });

  test("go back through the queue's door, and are parked no more", async () => {
    expect(await parkedCommand("replay", "3")).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^sent 1 messages to sqs/),
    });
    expect((await parkedCommand("list")).output).toMatch(/\n2 parked\n$/);
    await using queue = await openQueue(env.QUEUE_URL);
    const [delivery] = await queue.receive(1, 5000, AbortSignal.timeout(5000));
    expect(readMessage(delivery?.body ?? "")).toMatchObject({ kind: "refused" });
  });

  test("stay parked when the queue does not take them", async () => {
    const { code, errors } = await parkedCommand("replay", "2");
    expect([code, errors.slice(0, 8)]).toEqual([1, "parked: "]);
    expect((await parkedCommand("list")).output).toMatch(/\n2 parked\n$/);
  });
});

test.each([
  [[], "say list, show ID"],
  [["lost"], "say list, show ID"],
  [["show"], "say list, show ID"],
  [["show", "1", "2"], "say list, show ID"],
  [["show", "one"], "one is no number"],
  [["replay"], "say list, show ID"],
  [["replay", "--all", "1"], "say list, show ID"],
  [["list", "--all"], "only replay has options"],
  [["replay", "--every"], "--every"],
])("parked %j is answered with what is wrong", async (args, complaint) => {
  const { code, output, errors } = await run("ledger/commands/parked.ts", { args }).ended;
  expect([code, output]).toEqual([2, ""]);
  expect(errors).toMatch(/^parked: .*\n$/);
  expect(errors).toContain(complaint);
});
