import { randomUUID } from "node:crypto";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import amqp from "amqplib";
import { request } from "undici";
import { afterAll, describe, expect, test } from "vitest";
import { openNewDatabase } from "../../src/database/new-database.fixture.ts";
import { ledgerApp } from "../../src/ledger/app.ts";
import type { Queue } from "../../src/ledger/queue/queue.ts";
import { openQueue } from "../../src/ledger/queue/queues.ts";
import { openLog } from "../../src/process/log.ts";
import { pounds } from "../../src/values/currency.ts";
import { outputOf } from "../../testing/child-process.ts";
import { describeIfAvailable } from "../../testing/describe-if-available.ts";
import { root } from "../../testing/project.ts";
import { newFolder } from "../../testing/run.ts";
import { testWaitMaxMs } from "../../testing/test-wait-max.ts";
import { pythonTools } from "../checks/python-tools.ts";

const wholeMaxMs = 20 * testWaitMaxMs;

/** The page of the queue, as a ledger with this queue serves it. */
async function pageOf(queue: Queue): Promise<string> {
  await using database = await openNewDatabase();
  await using app = await ledgerApp({
    ...{
      cursorKey: new Uint8Array(32),
      ledgerId: "ledger",
      currency: pounds,
      database,
      queue,
      statementTimeoutMs: 1000,
      log: openLog("silent"),
    },
  });
  const { body } = await request(`${await app.listen({ host: "127.0.0.1", port: 0 })}/docs/queue`);
  return body.text();
}

const textOf = (html: string) =>
  html.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

const programIn = (page: string, language: string) =>
  textOf(new RegExp(`<h3>${language}</h3>.*?<pre><code>(.*?)</code></pre>`, "s").exec(page)?.[1] ?? "");

/** Runs the programs of a page that this machine can run. Each publishes the same event. */
async function runPrograms(page: string, python: string, env = {}): Promise<void> {
  const folder = newFolder();
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const programs = { Python: [python, "send.py"], TypeScript: [process.execPath, "send.ts"] };
  for (const [language, [program = "", file = ""]] of Object.entries(programs)) {
    writeFileSync(join(folder, file), programIn(page, language));
    const options = { cwd: folder, env: { PATH: process.env.PATH, ...env } };
    expect(await outputOf([program, file], options)).toMatch(/^sent/);
  }
}

/** The events that the programs published: each the example of the contract. */
async function expectEvents(queue: Queue, count: number): Promise<void> {
  for (let received = 0; received < count; ) {
    const deliveries = await queue.receive(10, 1000, AbortSignal.timeout(testWaitMaxMs));
    expect(deliveries).not.toEqual([]);
    for (const { body } of deliveries) {
      expect(JSON.parse(body)).toMatchObject({
        event_type: "PAYMENT_CREATED",
        event_details: { reference: "LIC-88" },
      });
    }
    await queue.acknowledge(deliveries);
    received += deliveries.length;
  }
}

const tools = await pythonTools(["boto3==1.44.5", "pika==1.4.4", "kafka-python==2.2.15"]);
const [python, reason] = "folder" in tools ? [join(tools.folder, "python"), ""] : ["", tools.reason];

const { TEST_AMQP_URL: broker, TEST_KAFKA_URL: kafka } = process.env;
const name = `test "${randomUUID()}"`;
const queues = {
  "the embedded queue": `sqs+embedded:${newFolder()}?port=0`,
  TEST_AMQP_URL: broker && `${broker}?queue=${encodeURIComponent(name)}`,
  TEST_KAFKA_URL: kafka && `${kafka}/test-${randomUUID()}`,
};
describeIfAvailable(`packages of Python: ${reason}`, python !== "")("the programs of the page", () => {
  describe.each(Object.entries(queues))("publish to %s", (variable, url) => {
    describeIfAvailable(variable, url !== undefined)("", () => {
      test("which has their events", { timeout: wholeMaxMs }, async () => {
        await using queue = await openQueue(url ?? "");
        await queue.countWaiting();
        await runPrograms(await pageOf(queue), python, { AMQP_URL: broker });
        await expectEvents(queue, 2);
      });
    });
  });
  afterAll(async () => {
    if (!broker) return;
    const connection = await amqp.connect(broker);
    await (await connection.createChannel()).deleteQueue(name);
    await connection.close();
  });
});

const sqs = "planted:pa55word@sqs.eu-west-2.amazonaws.com/1/events";
const brokers = "kafkas://planted:pa55word@kafka1.test:9093,kafka2.test";
test.each([
  [
    "amqp://planted:pa55word@rabbit.test/pay%2Fments?queue=events",
    "amqp://rabbit.test/pay%2Fments",
    "events",
  ],
  ["amqps://planted:pa55word@rabbit.test:5673/", "amqps://rabbit.test:5673", "payment-events"],
  [`sqs+https://${sqs}`, "https://sqs.eu-west-2.amazonaws.com/1/events", "eu-west-2"],
  [`${brokers}/pay.events?sasl=PLAIN`, "kafka1.test:9093,kafka2.test:9092", "pay.events"],
  ["sqs+http://planted:pa55word@localhost:9324/1/events", "http://localhost:9324/1/events", "us-east-1"],
])("the page for %s names the queue, without credentials", async (url, address, other) => {
  await using queue = await openQueue(url);
  const page = await pageOf(queue);
  expect(page).toContain(`<code>${address}</code>`);
  for (const language of ["Python", "Java", "TypeScript"]) expect(programIn(page, language)).toContain(other);
  expect(page).not.toMatch(/pa55word|planted|\{\{|MESSAGE/);
  // Only a stand-in accepts these.
  expect(page.includes("&quot;none&quot;")).toBe(url.startsWith("sqs+http:"));
});

test("without a queue for other processes, the page names the one of the default settings", async () => {
  await using queue = await openQueue("memory:");
  expect(await pageOf(queue)).toContain("<code>http://127.0.0.1:4566/000000000000/payment-events</code>");
});

test.each([
  ["TypeScript", "webhook-typescript/receive.ts"],
  ["Python", "webhook-python/receive.py"],
  ["Go", "webhook-go/receive.go"],
])("the page has the program in %s that receives webhooks, as it is", async (language, path) => {
  await using queue = await openQueue("memory:");
  const [, receiving = ""] = (await pageOf(queue)).split('<h2 id="receive">');
  expect(programIn(receiving, language)).toBe(readFileSync(join(root, "examples", path), "utf8").trimEnd());
});

test("the contents lead to every heading that has a name", async () => {
  await using queue = await openQueue("memory:");
  const page = await pageOf(queue);
  const [contents = "", ...articles] = page.split("</nav>\n<article>");
  const linked = [...contents.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
  const headings = [...articles.join("").matchAll(/<h[1-6] id="([^"]+)"/g)].map(([, id]) => id);
  expect(linked).toEqual(headings);
  expect(linked).toEqual(
    expect.arrayContaining([
      "publish",
      "receive",
      "paymentEvents",
      "publishToTopic",
      "message-TopicEvent",
      "PublishedEvent",
    ]),
  );
});
