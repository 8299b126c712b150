import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import amqp from "amqplib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeIfAvailable } from "../../testing/describe-if-available.ts";
import { eventually } from "../../testing/eventually.ts";
import { message } from "../../testing/messages.ts";
import { run } from "../../testing/run.ts";
import { isPostgresInstalled, startPostgres } from "../../testing/servers/postgres.ts";
import { isRabbitmqInstalled, startRabbitmq } from "../../testing/servers/rabbitmq.ts";
import type { TestServer } from "../../testing/servers/server.ts";
import { openDatabase } from "./database/database.ts";
import { startLedger } from "./ledger.fixture.ts";
import { openQueue } from "./queue/queue.ts";

const mebibyte = 2 ** 20;

/** An event message of exactly this size in bytes. */
function eventOf(id: string, bytes: number): Buffer {
  const note = "ü".repeat(100);
  const event_details = { gateway_account_id: "57", note };
  const body = JSON.stringify(message({ resource_external_id: id, event_details }));
  const missing = bytes - Buffer.byteLength(body);
  return Buffer.from(body.replace(note, note + "x".repeat(missing)));
}

const areInstalled = isPostgresInstalled() && isRabbitmqInstalled();
describeIfAvailable("PostgreSQL or RabbitMQ", areInstalled)("large messages", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startRabbitmq();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("a message of more than 1 MiB becomes a dead letter, byte for byte, and blocks no other", async () => {
    const connection = await amqp.connect(server.url);
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue("large");
    await using ledger = await startLedger({ queueUrl: `${server.url}?queue=large` });
    const rejected = [
      eventOf("over", mebibyte + 1),
      eventOf("far over", 16 * mebibyte),
      Buffer.alloc(30 * mebibyte, Buffer.from([0xff, 0x7b])),
    ];
    const stored = [eventOf("small1", 500), eventOf("just", mebibyte), eventOf("small2", 500)];
    const [first, ...others] = stored as [Buffer, ...Buffer[]];
    for (const body of [first, ...rejected, ...others]) channel.sendToQueue("large", body);
    await channel.waitForConfirms();
    for (const id of ["small1", "just", "small2"]) {
      await ledger.until(`/v1/transaction/${id}?account_id=57`, { transaction_id: id });
    }
    const [tooLarge, notText] = ["the message is larger than 1 MiB", "the message is not valid UTF-8"];
    const expected = rejected.map((body, index) => ({
      digest: createHash("sha256").update(body).digest("hex"),
      reason: index < 2 ? tooLarge : notText,
    }));
    const deadLetters = (columns: string) => ledger.database.query(`select ${columns} from dead_letter`);
    await eventually(async () => expect(await deadLetters("")).toHaveLength(3));
    expect(new Set(await deadLetters("encode(sha256(body), 'hex') as digest, reason"))).toEqual(
      new Set(expected),
    );
    await connection.close();
  });

  test("500 messages of nearly 1 MiB are stored within 512 MiB of memory", async () => {
    await using database = await startPostgres();
    await using queue = await openQueue(`${server.url}?queue=many`);
    const count = 500;
    for (let sent = 0; sent < count; sent += 50) {
      const ids = Array.from({ length: 50 }, (_, index) => `large${sent + index}`);
      await queue.send(ids.map((id) => eventOf(id, 950_000).toString()));
    }
    const settings = { DATABASE_URL: database.url, QUEUE_URL: `${server.url}?queue=many`, LEDGER_PORT: "0" };
    const { child, waitForOutput, exit } = run("src/main.ts", { args: ["ledger"], env: settings });
    await waitForOutput("listening");
    await using reader = await openDatabase(database.url);
    await eventually(async () =>
      expect(await reader.query("select count(*) from event")).toEqual([{ count: BigInt(count) }]),
    );
    const [, peak] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8")) ?? [];
    child.kill("SIGTERM");
    await exit;
    expect(Number(peak)).toBeLessThan(512 * 1024);
  });
});
