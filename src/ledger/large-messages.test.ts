import { createHash } from "node:crypto";
import amqp from "amqplib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../service/eventually.fixture.ts";
import { describeNeeding } from "../service/needing.fixture.ts";
import type { TestServer } from "../service/test-server.fixture.ts";
import { message, startLedger } from "./ledger.fixture.ts";
import { isRabbitmqInstalled, startRabbitmq } from "./queue/rabbitmq-server.fixture.ts";

const mebibyte = 2 ** 20;

/** An event of this size in bytes, which a note in it brings it to. */
function eventOf(id: string, bytes: number): Buffer {
  const note = "ü".repeat(100);
  const event_details = { gateway_account_id: "57", note };
  const body = JSON.stringify(message({ resource_external_id: id, event_details }));
  const missing = bytes - Buffer.byteLength(body);
  return Buffer.from(body.replace(note, note + "x".repeat(missing)));
}

describeNeeding("RabbitMQ", isRabbitmqInstalled())("a message of more than 1 MiB", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startRabbitmq();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("is parked as it came, and holds up no other", async () => {
    const connection = await amqp.connect(server.url);
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue("large");
    await using ledger = await startLedger({ queueUrl: `${server.url}?queue=large` });
    const refused = [
      eventOf("over", mebibyte + 1),
      eventOf("far over", 16 * mebibyte),
      Buffer.alloc(30 * mebibyte, Buffer.from([0xff, 0x7b])),
    ];
    const stored = [eventOf("small1", 500), eventOf("just", mebibyte), eventOf("small2", 500)];
    const [first, ...others] = stored as [Buffer, ...Buffer[]];
    for (const body of [first, ...refused, ...others]) channel.sendToQueue("large", body);
    await channel.waitForConfirms();
    for (const id of ["small1", "just", "small2"]) {
      await ledger.until(`/v1/transaction/${id}?account_id=57`, { transaction_id: id });
    }
    const [tooLarge, notText] = ["the message is larger than 1 MiB", "the message is not text in UTF-8"];
    const expected = refused.map((body, index) => ({
      digest: createHash("sha256").update(body).digest("hex"),
      reason: index < 2 ? tooLarge : notText,
    }));
    const parked = (columns: string) => ledger.database.query(`select ${columns} from parked_message`);
    await eventually(async () => expect(await parked("")).toHaveLength(3));
    expect(new Set(await parked("encode(sha256(body), 'hex') as digest, reason"))).toEqual(new Set(expected));
    await connection.close();
  });
});
