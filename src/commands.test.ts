import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { request } from "undici";
import { describe, expect, test } from "vitest";
import npmPackage from "../package.json" with { type: "json" };
import { eventually } from "../testing/eventually.ts";
import { freePort } from "../testing/free-port.ts";
import { story } from "../testing/messages.ts";
import { newFolder, run } from "../testing/run.ts";
import { openQueue } from "./ledger/queue/queue.ts";

test.concurrent.each([
  ...Object.values(npmPackage.scripts).flatMap((script) => script.match(/(?<=^exec node .*)\S+\.ts/) ?? []),
])("%s --help prints the usage", async (program) => {
  const { code, output } = await run(program, { args: ["--help"] }).exit;
  expect(output).toMatch(/^Usage: npm /);
  expect(code).toBe(0);
});

const createdPayment = (id: string, details: object = {}) =>
  JSON.stringify(story("payment", id, ["09:14:22", "PAYMENT_CREATED", details])[0]);

describe("with the embedded engines", () => {
  test("events that were sent by the command and stored survive a kill", async () => {
    const [ledgerPort, queuePort] = [String(await freePort()), String(await freePort())];
    const folder = newFolder();
    const env = {
      LEDGER_PORT: ledgerPort,
      FEATURES_PORT: "0",
      QUEUE_URL: `sqs+embedded:./data/queue?port=${queuePort}`,
    };
    const base = `http://127.0.0.1:${ledgerPort}`;
    const statusOf = async (id: string) => {
      const { statusCode, body } = await request(`${base}/v1/transaction/${id}?account_id=57`);
      await body.dump();
      return statusCode;
    };
    const event = (id: string) => `${createdPayment(id, { description: "Zoë’s\u2028💷" })}\n`;

    const services = run("src/main.ts", { env, folder });
    await services.waitForOutput('"service":"ledger","docs"');
    const sent = await run("src/ledger/commands/send-events.ts", {
      env,
      folder,
      args: ["-"],
      input: event("pay1") + event("pay2"),
    }).exit;
    expect(sent).toMatchObject({
      code: 0,
      errors: "",
      output: expect.stringMatching(/^sent 2 messages to sqs\+http/),
    });
    await eventually(async () => expect(await statusOf("pay2")).toBe(200));

    services.child.kill("SIGKILL");
    await services.exit;

    const afterKill = run("src/main.ts", { env, folder, args: ["ledger"] });
    await afterKill.waitForOutput("listening");
    expect(await statusOf("pay1")).toBe(200);
    afterKill.child.kill("SIGTERM");
    expect((await afterKill.exit).code).toBe(0);
  });

  test("messages wait in the queue while background processing is off", async () => {
    const folder = newFolder();
    const queue = `sqs+embedded:${folder}/queue?port=${await freePort()}`;
    const env = { LEDGER_PORT: "0", QUEUE_URL: queue, QUEUE_RECEIVER_BACKGROUND_PROCESSING: "false" };
    const ledger = run("src/main.ts", { env, folder, args: ["ledger"] });
    await ledger.waitForOutput("listening");
    const sending = { env, folder, args: ["-"], input: createdPayment("pay1") };
    expect((await run("src/ledger/commands/send-events.ts", sending).exit).code).toBe(0);
    ledger.child.kill("SIGTERM");
    await ledger.exit;
    await using left = await openQueue(queue);
    expect(await left.check()).toEqual({ waiting: 1 });
  });
});

describe("send-events", () => {
  test.each<[string, string[], string, number, string, Record<string, string>?]>([
    ["no file", [], "", 2, "expected one file"],
    ["two files", ["a", "b"], "", 2, "expected one file"],
    ["an unknown option", ["--dry-run"], "", 2, "'--dry-run'"],
    ["a missing file", ["missing.ndjson"], "", 1, "missing.ndjson"],
    ["an in-memory queue", ["-"], "", 2, "QUEUE_URL is memory:", { QUEUE_URL: "memory:" }],
  ])("prints one line for an error: %s", async (_name, args, input, code, message, others = {}) => {
    const env = { QUEUE_URL: `sqs+embedded:./q?port=${await freePort()}`, ...others };
    const result = await run("src/ledger/commands/send-events.ts", { args, input, env }).exit;
    expect(result.errors).toContain(message);
    expect(result.errors.trim().split("\n")).toHaveLength(1);
    expect(result.code).toBe(code);
  });

  test("prints an error without the password if no queue responds", async () => {
    const env = { QUEUE_URL: `amqp://user:hunter2@127.0.0.1:${await freePort()}` };
    const { code, errors } = await run("src/ledger/commands/send-events.ts", {
      args: ["-"],
      input: "{}\n",
      env,
    }).exit;
    expect(errors).toMatch(/^send-events: no queue responds at amqp:\/\/127.0.0.1:\d+: .*ECONNREFUSED.*\n$/);
    expect(code).toBe(1);
  });

  test("waits for the queue of a ledger that is starting, which is not disturbed", async () => {
    const folder = newFolder();
    const env = {
      QUEUE_URL: `sqs+embedded:./q?port=${await freePort()}`,
      LEDGER_PORT: String(await freePort()),
    };
    const ledger = run("src/main.ts", { env, folder, args: ["ledger"] });
    const senders = ["pay1", "pay2", "pay3"].map((id) =>
      run("src/ledger/commands/send-events.ts", { args: ["-"], input: createdPayment(id), env, folder }),
    );
    const demo = run("scripts/demo/demo.ts", { env, folder });
    for (const { exit } of [...senders, demo]) {
      expect(await exit).toMatchObject({ code: 0, errors: expect.not.stringContaining("in use") });
    }
    for (const id of ["pay1", "pay2", "pay3"]) {
      const url = `http://127.0.0.1:${env.LEDGER_PORT}/v1/transaction/${id}?account_id=57`;
      await eventually(async () => expect((await fetch(url)).status).toBe(200));
    }
    ledger.child.kill("SIGTERM");
    expect((await ledger.exit).code).toBe(0);
  });

  test("sends every line of a file", async () => {
    const url = `sqs+embedded:${newFolder()}?port=${await freePort()}`;
    await using queue = await openQueue(url);
    const lines = Array.from({ length: 250 }, (_, index) => String(index));
    const sent = await run("src/ledger/commands/send-events.ts", {
      args: ["-"],
      input: lines.join("\n"),
      env: { QUEUE_URL: url },
    }).exit;
    expect(sent).toMatchObject({ code: 0, output: expect.stringMatching(/^sent 250 messages/) });
    expect(await queue.check()).toEqual({ waiting: 250 });
  });

  test("prints the number of the line that is not JSON", async () => {
    const env = { QUEUE_URL: `sqs+embedded:${newFolder()}?port=${await freePort()}` };
    const file = join(newFolder(), "events.ndjson");
    writeFileSync(file, '{"a":1}\n\nnonsense\n');
    const { code, errors } = await run("src/ledger/commands/send-events.ts", { env, args: [file] }).exit;
    expect([code, errors]).toEqual([1, "send-events: line 3 is not JSON; 0 messages were sent\n"]);
  });
});
