import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import npmPackage from "../package.json" with { type: "json" };
import { eventually } from "../testing/eventually.ts";
import { freePort } from "../testing/free-port.ts";
import { newFolder, run } from "../testing/run.ts";
import { openQueue } from "./ledger/queue/queue.ts";
import { createdPayment, runServices, statusOf } from "./main.fixture.ts";

test.concurrent.each([
  ...Object.values(npmPackage.scripts).flatMap((script) => script.match(/(?<=^exec node .*)\S+\.ts/) ?? []),
])("%s --help prints the usage", async (program) => {
  const { code, output } = await run(program, { args: ["--help"] }).exit;
  expect(output).toMatch(/^Usage: npm /);
  expect(code).toBe(0);
});

/** Runs the command, by default with messages from its standard input. */
const sendEvents = (env: object, input: string, args = ["-"], folder?: string) =>
  run("src/ledger/commands/send-events.ts", { env, input, args, ...(folder !== undefined && { folder }) })
    .exit;

/** Settings of a ledger whose data are in a new folder, and how to ask it for a payment. */
async function newInstallation(queuePath = "./data/queue") {
  const ports = { LEDGER_PORT: String(await freePort()), FEATURES_PORT: "0" };
  const folder = newFolder();
  const env = { ...ports, QUEUE_URL: `sqs+embedded:${queuePath}?port=${await freePort()}` };
  const path = `http://127.0.0.1:${ports.LEDGER_PORT}/v1/transaction`;
  return { folder, env, payment: (id: string) => statusOf(`${path}/${id}?account_id=57`) };
}

describe("with the embedded engines", () => {
  test("events that were sent by the command and stored survive a kill", async () => {
    const { folder, env, payment } = await newInstallation();
    const services = runServices(env, [], folder);
    await services.waitForOutput('"service":"ledger","docs"');
    const events = ["pay1", "pay2"].map((id) => createdPayment(id, { description: "Zoë’s\u2028💷" }));
    expect(await sendEvents(env, events.join(""), ["-"], folder)).toMatchObject({
      ...{ code: 0, errors: "", output: expect.stringMatching(/^sent 2 messages to sqs\+http/) },
    });
    await eventually(async () => expect(await payment("pay2")).toBe(200));
    services.child.kill("SIGKILL");
    await services.exit;
    const afterKill = runServices(env, ["ledger"], folder);
    await afterKill.isListening();
    expect(await payment("pay1")).toBe(200);
    await afterKill.stop();
  });

  test("messages wait in the queue while background processing is off", async () => {
    const { folder, env } = await newInstallation(`${newFolder()}/queue`);
    const off = { ...env, QUEUE_RECEIVER_BACKGROUND_PROCESSING: "false" };
    const ledger = runServices(off, ["ledger"], folder);
    await ledger.isListening();
    expect(await sendEvents(off, createdPayment("pay1"))).toMatchObject({ code: 0 });
    await ledger.stop();
    await using left = await openQueue(env.QUEUE_URL);
    expect(await left.check()).toEqual({ waiting: 1 });
  });
});

describe("send-events", () => {
  const noQueue = /^send-events: no queue responds at amqp:\/\/127.0.0.1:\d+: .*ECONNREFUSED.*\n$/;
  const notJson = "send-events: line 3 is not JSON; 0 messages were sent\n";
  const nonsense = join(newFolder(), "events.ndjson");
  writeFileSync(nonsense, '{"a":1}\n\nnonsense\n');
  test.each<[name: string, args: string[], code: number, message: string | RegExp, queue?: string]>([
    ["no file", [], 2, "expected one file"],
    ["two files", ["a", "b"], 2, "expected one file"],
    ["an unknown option", ["--dry-run"], 2, "'--dry-run'"],
    ["a missing file", ["missing.ndjson"], 1, "missing.ndjson"],
    ["a line that is not JSON", [nonsense], 1, notJson],
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

  test("waits for the queue of a ledger that is starting, which is not disturbed", async () => {
    const { folder, env, payment } = await newInstallation();
    const ledger = runServices(env, ["ledger"], folder);
    const ids = ["pay1", "pay2", "pay3"];
    const senders = ids.map((id) => sendEvents(env, createdPayment(id), ["-"], folder));
    const demo = run("scripts/demo/demo.ts", { env, folder }).exit;
    for (const exit of [...senders, demo])
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
    expect(await queue.check()).toEqual({ waiting: 250 });
  });
});
