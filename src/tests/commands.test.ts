import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import npmPackage from "../../package.json" with { type: "json" };
import { eventually } from "../../testing/eventually.ts";
import { freePort } from "../../testing/free-port.ts";
import { newFolder, run } from "../../testing/run.ts";
import { openQueue } from "../ledger/queue/queues.ts";
import { createdPayment, newInstallation } from "../main.fixture.ts";

test.concurrent.each([
  ...Object.values(npmPackage.scripts).flatMap((script) => script.match(/(?<=^exec node .*)\S+\.ts/) ?? []),
])("%s --help prints the usage", async (program) => {
  const { code, output } = await run(program, { args: ["--help"] }).exit;
  expect(output).toMatch(/^Usage: npm /);
  expect(code).toBe(0);
});

const program = "src/ledger/commands/send-events.ts";

/** Runs the command, by default with messages from its standard input. */
const sendEvents = (env: object, input: string, args = ["-"]) => run(program, { env, input, args }).exit;

describe("with the embedded engines", () => {
  test("events that were sent by the command and stored survive a kill", async () => {
    const { runServices, command, payment } = await newInstallation();
    const services = runServices();
    await services.waitForOutput('"service":"ledger","docs"');
    const events = ["pay1", "pay2"].map((id) => createdPayment(id, { description: "Zoë’s\u2028💷" }));
    expect(await command("send-events", ["-"], events.join(""))).toMatch(
      /^sent 2 messages to sqs\+embedded:/,
    );
    await eventually(async () => expect(await payment("pay2")).toBe(200));
    services.child.kill("SIGKILL");
    await services.exit;
    const afterKill = runServices(["ledger"]);
    await afterKill.isListening();
    expect(await payment("pay1")).toBe(200);
    await afterKill.stop();
  });

  test("messages wait in the queue while background processing is off", async () => {
    const QUEUE_URL = `sqs+embedded:${newFolder()}/queue?port=${await freePort()}`;
    const off = { QUEUE_URL, QUEUE_RECEIVER_BACKGROUND_PROCESSING: "false" };
    const { runServices, command } = await newInstallation(off);
    const ledger = runServices(["ledger"]);
    await ledger.isListening();
    await command("send-events", ["-"], createdPayment("pay1"));
    await ledger.stop();
    await using left = await openQueue(QUEUE_URL);
    expect(await left.countWaiting()).toBe(1);
  });
});

describe("send-events", () => {
  const noQueue = /^send-events: no queue responds at amqp:\/\/127.0.0.1:\d+: .*ECONNREFUSED.*\n$/;
  const notJson = "send-events: line 3 is not JSON; 0 messages were sent\n";
  const nonsense = join(newFolder(), "events.ndjson");
  writeFileSync(nonsense, '{"a":1}\n\nnonsense\n');
  const large = join(newFolder(), "large.ndjson");
  writeFileSync(large, `${"{}\n".repeat(100)}"${"x".repeat(2 ** 20)}"\n`);
  const rejected =
    /^send-events: the queue rejected a message: .* shorter than 1048576 bytes; 100 messages were sent\n$/;
  test.each<[name: string, args: string[], code: number, message: string | RegExp, queue?: string]>([
    ["no file", [], 2, "expected one file"],
    ["two files", ["a", "b"], 2, "expected one file"],
    ["an unknown option", ["--dry-run"], 2, "'--dry-run'"],
    ["a missing file", ["missing.ndjson"], 1, "missing.ndjson"],
    ["a line that is not JSON", [nonsense], 1, notJson],
    ["a message that is too large", [large], 1, rejected],
    ["a folder that is a file", ["-"], 1, "there is a file of this name", `sqs+embedded:${nonsense}`],
    ["an in-memory queue", ["-"], 2, "QUEUE_URL is memory:", "memory:"],
    [
      "a queue that does not respond, without its password",
      ["-"],
      1,
      noQueue,
      "amqp://user:hunter2@127.0.0.1:PORT",
    ],
  ])(
    "prints one line for an error: %s",
    async (_name, args, code, message, queue = "sqs+embedded:./q?port=PORT") => {
      const QUEUE_URL = queue.replace("PORT", String(await freePort()));
      const exit = await sendEvents({ QUEUE_URL }, "{}\n", args);
      expect(exit.errors).toMatch(message);
      expect(exit.errors.trim().split("\n")).toHaveLength(1);
      expect(exit.code).toBe(code);
    },
  );

  test("that runs on does not disturb a ledger, which stores what is sent before and after its start", async () => {
    const { folder, env, runServices, payment } = await newInstallation();
    const sender = run(program, { env, folder, args: ["-"], keepInputOpen: true });
    // A hundred lines are a batch.
    const lines = (id: string) => `${createdPayment(id)}${"{}\n".repeat(99)}`;
    sender.child.stdin?.write(lines("pay1"));
    for (const id of ["pay2", "pay3"]) {
      const ledger = runServices(["ledger"]);
      await ledger.isListening();
      sender.child.stdin?.write(lines(id));
      for (const sent of ["pay1", id]) await eventually(async () => expect(await payment(sent)).toBe(200));
      ledger.child.kill("SIGKILL");
      await ledger.exit;
    }
    sender.child.stdin?.end();
    const output = expect.stringMatching(/^sent 300 messages to sqs\+embedded:/);
    expect(await sender.exit).toMatchObject({ code: 0, output });
  });

  test("sends while a ledger starts, which is not disturbed", async () => {
    const { folder, env, runServices, payment } = await newInstallation();
    const ledger = runServices(["ledger"]);
    const ids = ["pay1", "pay2", "pay3"];
    const running = [
      ...ids.map((id) => run(program, { env, folder, args: ["-"], input: createdPayment(id) })),
      run("scripts/demo/demo.ts", { env, folder }),
    ];
    for (const { exit } of running)
      expect(await exit).toMatchObject({ code: 0, errors: expect.not.stringContaining("in use") });
    for (const id of ids) await eventually(async () => expect(await payment(id)).toBe(200));
    await ledger.stop();
  });

  test("sends every line of a file", async () => {
    const url = `sqs+embedded:${newFolder()}?port=${await freePort()}`;
    await using queue = await openQueue(url);
    const lines = Array.from({ length: 250 }, (_, index) => String(index));
    const output = expect.stringMatching(/^sent 250 messages/);
    expect(await sendEvents({ QUEUE_URL: url }, lines.join("\n"))).toMatchObject({ code: 0, output });
    expect(await queue.countWaiting()).toBe(250);
  });
});
