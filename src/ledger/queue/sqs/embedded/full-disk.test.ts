import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";
import { describeOnSmallDisk } from "../../../../../testing/describe-small-disk.ts";
import { eventually } from "../../../../../testing/eventually.ts";
import { openSender } from "../../sender.ts";
import { startWithClient } from "./client.fixture.ts";

describeOnSmallDisk("on a full disk, the embedded queue", 128, (openDisk) => {
  test("rejects messages with the error that clients retry, delivers and deletes, and accepts messages when there is space", async () => {
    await using disk = await openDisk();
    await using server = await startWithClient(`${disk.folder}/queue`);
    const { client, QueueUrl, folder } = server;
    const send = (MessageBody: string) => client.send(new SendMessageCommand({ QueueUrl, MessageBody }));
    const receive = async () => {
      const input = { QueueUrl, MaxNumberOfMessages: 10 };
      return (await client.send(new ReceiveMessageCommand(input))).Messages ?? [];
    };
    let accepted = 0;
    const large = "x".repeat(2 ** 20);
    const full = { name: "ServiceUnavailable", $retryable: undefined, $metadata: { httpStatusCode: 503 } };
    await expect(
      (async () => {
        for (; accepted < 128; accepted += 1) await send(large);
      })(),
    ).rejects.toMatchObject({ $metadata: full.$metadata, message: "The disk of the queue is full." });
    expect(accepted).toBeGreaterThan(10);
    await disk.fill();
    await expect(send("1")).rejects.toMatchObject({ $metadata: full.$metadata });
    await using sender = await openSender(`sqs+embedded:${folder}`);
    await expect(sender.send(["1"])).rejects.toThrow(`the disk of the folder ${folder} is full`);
    let deleted = 0;
    for (let messages = await receive(); messages.length > 0; messages = await receive()) {
      for (const { ReceiptHandle } of messages) {
        await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
        deleted += 1;
      }
    }
    expect(deleted).toBe(accepted);
    await disk.clear();
    // The filler had about the space that stays reserved. The server gives back that of the deleted messages in steps.
    await eventually(() => send("1"));
    await sender.send(["2"]);
    expect((await receive()).map(({ Body }) => Body)).toEqual(["1", "2"]);
  });
});
