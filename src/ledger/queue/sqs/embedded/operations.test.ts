import { hash } from "node:crypto";
import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  type MessageAttributeValue,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
  SetQueueAttributesCommand,
  TagQueueCommand,
} from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";
import { eventually } from "../../../../../testing/eventually.ts";
import { newFolder } from "../../../../../testing/run.ts";
import { startWithClient } from "./client.fixture.ts";

async function start(folder?: string) {
  const started = await startWithClient(folder);
  const { client, QueueUrl } = started;
  return {
    ...started,
    send: (MessageBody: string, more: Partial<SendMessageCommandInput> = {}) =>
      client.send(new SendMessageCommand({ QueueUrl, MessageBody, ...more })),
    async receive(more: Partial<ReceiveMessageCommandInput> = {}) {
      const input = { QueueUrl, MaxNumberOfMessages: 10, MessageSystemAttributeNames: ["All" as const] };
      return (await client.send(new ReceiveMessageCommand({ ...input, ...more }))).Messages ?? [];
    },
    set: (Attributes: Record<string, string>) =>
      client.send(new SetQueueAttributesCommand({ QueueUrl, Attributes })),
    async attributes() {
      const input = { QueueUrl, AttributeNames: ["All" as const] };
      return (await client.send(new GetQueueAttributesCommand(input))).Attributes as Record<string, string>;
    },
    async counts() {
      const input = { QueueUrl, AttributeNames: ["All" as const] };
      const { Attributes = {} } = await client.send(new GetQueueAttributesCommand(input));
      return ["", "NotVisible", "Delayed"].map((kind) =>
        Number(Attributes[`ApproximateNumberOfMessages${kind}` as keyof typeof Attributes]),
      );
    },
    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
  };
}

/** The code of the error with which a request is rejected. */
const codeOf = (request: Promise<unknown>) =>
  request.then(
    () => "none",
    ({ name, Code, message }) => `${Code ?? name}: ${message}`,
  );
const xs = (length: number) => "x".repeat(length);
const mebibyte = 2 ** 20;

describe("a message", () => {
  test("has digests, its attributes, and the system attributes of its deliveries", async () => {
    await using queue = await start();
    const MessageAttributes: Record<string, MessageAttributeValue> = {
      text: { DataType: "String.label", StringValue: "Zoë" },
      number: { DataType: "Number", StringValue: "-1.5e3" },
      bytes: { DataType: "Binary.gif", BinaryValue: new Uint8Array([0, 1, 255]) },
    };
    const AWSTraceHeader = { DataType: "String", StringValue: "Root=1-5759e988-bd862e3fe1be46a994272793" };
    // The SDK checks the digest of the body.
    const sent = await queue.send("💷", {
      MessageAttributes,
      MessageSystemAttributes: { AWSTraceHeader },
      MessageGroupId: "group",
    });
    expect(sent).toMatchObject({
      MessageId: expect.stringMatching(/^[\da-f-]{36}$/),
      MD5OfMessageBody: hash("md5", "💷"),
      MD5OfMessageAttributes: expect.stringMatching(/^[\da-f]{32}$/),
      MD5OfMessageSystemAttributes: expect.stringMatching(/^[\da-f]{32}$/),
    });
    const [message] = await queue.receive({ MessageAttributeNames: ["All"] });
    expect(message).toMatchObject({
      MessageId: sent.MessageId,
      Body: "💷",
      MD5OfBody: sent.MD5OfMessageBody,
      MD5OfMessageAttributes: sent.MD5OfMessageAttributes,
      MessageAttributes,
      Attributes: {
        SenderId: "000000000000",
        ApproximateReceiveCount: "1",
        SentTimestamp: expect.stringMatching(/^\d{13}$/),
        ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
        AWSTraceHeader: AWSTraceHeader.StringValue,
        MessageGroupId: "group",
      },
    });
  });

  test("is delivered with the attributes that the receiver names", async () => {
    await using queue = await start();
    const value = { DataType: "String", StringValue: "1" };
    await queue.send("1", { MessageAttributes: { "a.one": value, "a.two": value, b: value } });
    const namesFor = async (MessageAttributeNames?: string[]) => {
      const [message] = await queue.receive({
        VisibilityTimeout: 0,
        ...(MessageAttributeNames && { MessageAttributeNames }),
      });
      return [Object.keys(message?.MessageAttributes ?? {}), message?.MD5OfMessageAttributes !== undefined];
    };
    expect(await namesFor()).toEqual([[], false]);
    expect(await namesFor(["a.*"])).toEqual([["a.one", "a.two"], true]);
    expect(await namesFor(["b", "c"])).toEqual([["b"], true]);
    expect(await namesFor([".*"])).toEqual([["a.one", "a.two", "b"], true]);
    const [none] = await queue.receive({ MessageSystemAttributeNames: [], VisibilityTimeout: 0 });
    expect(none?.Attributes).toBeUndefined();
  });

  const string = (StringValue: string) => ({ DataType: "String", StringValue });
  test.each<[name: string, input: Partial<SendMessageCommandInput>, error: RegExp]>([
    ["no body", { MessageBody: "" }, /^MissingParameter: .*MessageBody/],
    ["a character that is not allowed", { MessageBody: "\u0001" }, /^InvalidMessageContents/],
    ["more than 1 MiB", { MessageBody: xs(mebibyte + 1) }, /^InvalidParameterValue: .*1048576 bytes/],
    [
      "more than 1 MiB with attributes",
      { MessageBody: xs(mebibyte - 7), MessageAttributes: { a: string("1") } },
      /1048576 bytes/,
    ],
    ["a delay of 901 seconds", { DelaySeconds: 901 }, /^InvalidParameterValue: .*DelaySeconds .* 0 and 900/],
    ["a negative delay", { DelaySeconds: -1 }, /^InvalidParameterValue: .*DelaySeconds/],
    ["half a second of delay", { DelaySeconds: 0.5 }, /^InvalidParameterValue: .*DelaySeconds/],
    [
      "11 attributes",
      {
        MessageAttributes: Object.fromEntries(
          Array.from({ length: 11 }, (_, index) => [`a${index}`, string("1")]),
        ),
      },
      /\[11\] exceeds the allowed maximum \[10\]/,
    ],
    [
      "an attribute with a name that is not allowed",
      { MessageAttributes: { "a b": string("1") } },
      /^InvalidParameterValue: .*name is not allowed/,
    ],
    ["an attribute of Amazon", { MessageAttributes: { "AWS.x": string("1") } }, /name is not allowed/],
    [
      "an attribute of another type",
      { MessageAttributes: { a: { DataType: "Text", StringValue: "1" } } },
      /String, Number or Binary/,
    ],
    ["an empty attribute", { MessageAttributes: { a: string("") } }, /must not be empty/],
    [
      "an attribute that is no number",
      { MessageAttributes: { a: { DataType: "Number", StringValue: "one" } } },
      /must be a number/,
    ],
    [
      "an attribute with a character that is not allowed",
      { MessageAttributes: { a: string("\0") } },
      /^InvalidMessageContents/,
    ],
    [
      "an unknown system attribute",
      { MessageSystemAttributes: { X: string("1") } as object },
      /not supported/,
    ],
    ["an id for deduplication", { MessageDeduplicationId: "1" }, /^InvalidParameterValue: .*FIFO/],
    ["an invalid group", { MessageGroupId: "a b" }, /^InvalidParameterValue: .*MessageGroupId/],
  ])("with %s is rejected", async (_name, input, error) => {
    await using queue = await start();
    expect(await codeOf(queue.send("1", input))).toMatch(error);
    expect(await queue.counts()).toEqual([0, 0, 0]);
  });

  test("of exactly 1 MiB with its attributes is accepted, alone and in a batch", async () => {
    await using queue = await start();
    const message = { MessageBody: xs(mebibyte - 8), MessageAttributes: { a: string("1") } };
    await queue.send("", message);
    const { QueueUrl, client } = queue;
    await client.send(new SendMessageBatchCommand({ QueueUrl, Entries: [{ Id: "1", ...message }] }));
    expect(await queue.counts()).toEqual([2, 0, 0]);
  });

  test("waits for its delay, or that of the queue", async () => {
    await using queue = await start();
    await queue.send("1", { DelaySeconds: 900 });
    await queue.set({ DelaySeconds: "900" });
    await queue.send("2");
    await queue.send("3", { DelaySeconds: 0 });
    expect(await queue.counts()).toEqual([1, 0, 2]);
    await queue.send("4", { DelaySeconds: 1 });
    const bodies: (string | undefined)[] = [];
    await eventually(async () => {
      bodies.push(...(await queue.receive({ WaitTimeSeconds: 1 })).map(({ Body }) => Body));
      expect(bodies).toEqual(["3", "4"]);
    });
  });
});

describe("a batch", () => {
  test("sends what is valid, and names the error of each other entry", async () => {
    await using queue = await start();
    const { QueueUrl, client } = queue;
    await queue.set({ MaximumMessageSize: "1024" });
    const Entries = [
      { Id: "first", MessageBody: "1" },
      { Id: "second", MessageBody: "\uffff" },
      { Id: "third", MessageBody: xs(1025) },
      { Id: "fourth", MessageBody: "4", DelaySeconds: 901 },
      { Id: "fifth", MessageBody: "5" },
    ];
    const { Successful, Failed } = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    expect(Successful?.map(({ Id, MD5OfMessageBody }) => [Id, MD5OfMessageBody])).toEqual([
      ["first", hash("md5", "1")],
      ["fifth", hash("md5", "5")],
    ]);
    expect(Failed?.map(({ Id, Code, SenderFault }) => [Id, Code, SenderFault])).toEqual([
      ["second", "InvalidMessageContents", true],
      ["third", "InvalidParameterValue", true],
      ["fourth", "InvalidParameterValue", true],
    ]);
    const received = await queue.receive();
    expect(received.map(({ MessageId }) => MessageId)).toEqual(Successful?.map(({ MessageId }) => MessageId));
  });

  const entries = (count: number, MessageBody = "1") =>
    Array.from({ length: count }, (_, index) => ({ Id: String(index), MessageBody }));
  test.each([
    ["no entry", [], /^AWS.SimpleQueueService.EmptyBatchRequest/],
    ["11 entries", entries(11), /TooManyEntriesInBatchRequest/],
    ["an id twice", [...entries(1), ...entries(1)], /BatchEntryIdsNotDistinct/],
    ["an invalid id", [{ Id: "a b", MessageBody: "1" }], /InvalidBatchEntryId/],
    ["an id that is too long", [{ Id: xs(81), MessageBody: "1" }], /InvalidBatchEntryId/],
    ["more than 1 MiB together", entries(5, xs(mebibyte / 4)), /BatchRequestTooLong/],
  ])("with %s is rejected as a whole", async (_name, Entries, error) => {
    await using queue = await start();
    const { QueueUrl, client } = queue;
    expect(await codeOf(client.send(new SendMessageBatchCommand({ QueueUrl, Entries })))).toMatch(error);
    expect(await queue.counts()).toEqual([0, 0, 0]);
  });
});

describe("a delivery", () => {
  test("hides the message until its visibility timeout, which the receiver can change, and is the only one that deletes it", async () => {
    await using queue = await start();
    const { QueueUrl, client } = queue;
    await queue.send("1");
    const change = (ReceiptHandle: string | undefined, VisibilityTimeout: number) =>
      client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }));
    const [first] = await queue.receive({ VisibilityTimeout: 600 });
    expect([await queue.receive(), await queue.counts()]).toEqual([[], [0, 1, 0]]);
    await change(first?.ReceiptHandle, 1);
    const [second] = await queue.receive({ VisibilityTimeout: 600, WaitTimeSeconds: 20 });
    expect(second).toMatchObject({
      MessageId: first?.MessageId,
      Attributes: { ApproximateReceiveCount: "2" },
    });
    expect(second?.Attributes?.ApproximateFirstReceiveTimestamp).toBe(
      first?.Attributes?.ApproximateFirstReceiveTimestamp,
    );
    const [old, ReceiptHandle] = [first?.ReceiptHandle, second?.ReceiptHandle];
    // As Amazon SQS does, it succeeds and does nothing.
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: old }));
    expect(await codeOf(change(old, 0))).toMatch(/MessageNotInflight/);
    await change(ReceiptHandle, 43_200);
    expect(await codeOf(change(ReceiptHandle, 43_201))).toMatch(
      /^InvalidParameterValue: .*VisibilityTimeout/,
    );
    await change(ReceiptHandle, 0);
    expect(await codeOf(change(ReceiptHandle, 30))).toMatch(/MessageNotInflight/);
    expect(await queue.counts()).toEqual([1, 0, 0]);
    // Nobody has received it since.
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    expect(await queue.counts()).toEqual([0, 0, 0]);
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  });

  test("is deleted or changed in batches, each entry by itself", async () => {
    await using queue = await start();
    const { QueueUrl, client } = queue;
    for (const body of ["1", "2", "3"]) await queue.send(body);
    const handles = (await queue.receive()).map(({ ReceiptHandle }) => ReceiptHandle);
    const changed = await client.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl,
        Entries: [
          { Id: "0", ReceiptHandle: handles[0], VisibilityTimeout: 0 },
          { Id: "1", ReceiptHandle: handles[1], VisibilityTimeout: 43_201 },
          { Id: "2", ReceiptHandle: "none", VisibilityTimeout: 1 },
          { Id: "3", ReceiptHandle: handles[2] },
        ],
      }),
    );
    expect(changed.Successful).toEqual([{ Id: "0" }]);
    expect(changed.Failed?.map(({ Id, Code }) => [Id, Code])).toEqual([
      ["1", "InvalidParameterValue"],
      ["2", "ReceiptHandleIsInvalid"],
      ["3", "MissingParameter"],
    ]);
    const deleted = await client.send(
      new DeleteMessageBatchCommand({
        QueueUrl,
        Entries: [
          { Id: "1", ReceiptHandle: handles[1] },
          { Id: "2", ReceiptHandle: handles[2] },
          { Id: "none", ReceiptHandle: "none" },
        ],
      }),
    );
    expect(deleted).toMatchObject({
      Successful: [{ Id: "1" }, { Id: "2" }],
      Failed: [{ Id: "none", Code: "ReceiptHandleIsInvalid", SenderFault: true }],
    });
    expect((await queue.receive({ VisibilityTimeout: 0 })).map(({ Body }) => Body)).toEqual(["1"]);
  });

  test.each<[name: string, input: Partial<ReceiveMessageCommandInput>, error: RegExp]>([
    ["no message", { MaxNumberOfMessages: 0 }, /^InvalidParameterValue: .*MaxNumberOfMessages .*1 and 10/],
    ["11 messages", { MaxNumberOfMessages: 11 }, /^InvalidParameterValue: .*MaxNumberOfMessages/],
    ["a wait of 21 seconds", { WaitTimeSeconds: 21 }, /^InvalidParameterValue: .*WaitTimeSeconds/],
    ["a visibility timeout of 43,201 seconds", { VisibilityTimeout: 43_201 }, /VisibilityTimeout/],
    ["an unknown attribute", { MessageSystemAttributeNames: ["X" as "All"] }, /^InvalidAttributeName: .*X/],
    ["another queue", { QueueUrl: "http://localhost/000000000000/other" }, /NonExistentQueue/],
  ])("of %s is rejected", async (_name, input, error) => {
    await using queue = await start();
    await queue.send("1");
    expect(await codeOf(queue.receive(input))).toMatch(error);
    expect(await queue.counts()).toEqual([1, 0, 0]);
  });

  test("wakes those who wait, each message one", async () => {
    await using queue = await start();
    const waiting = Array.from({ length: 3 }, () =>
      queue.receive({ WaitTimeSeconds: 20, MaxNumberOfMessages: 1 }),
    );
    for (const body of ["1", "2", "3"]) await queue.send(body);
    const received = (await Promise.all(waiting)).flat();
    expect(received.map(({ Body }) => Body).sort()).toEqual(["1", "2", "3"]);
  });
});

describe("the queue", () => {
  test("reports its attributes, and obeys those that are set, also after a restart", async () => {
    const folder = newFolder();
    {
      await using queue = await start(folder);
      expect(await queue.attributes()).toEqual({
        QueueArn: "arn:aws:sqs:eu-west-1:000000000000:payment-events",
        VisibilityTimeout: "30",
        DelaySeconds: "0",
        MaximumMessageSize: "1048576",
        ReceiveMessageWaitTimeSeconds: "0",
        ApproximateNumberOfMessages: "0",
        ApproximateNumberOfMessagesNotVisible: "0",
        ApproximateNumberOfMessagesDelayed: "0",
        CreatedTimestamp: expect.stringMatching(/^\d{10}$/),
        LastModifiedTimestamp: expect.stringMatching(/^\d{10}$/),
      });
      await queue.set({ MaximumMessageSize: "1024", VisibilityTimeout: "0" });
      await queue.set({ ReceiveMessageWaitTimeSeconds: "20" });
    }
    await using queue = await start(folder);
    expect(await queue.attributes()).toMatchObject({ MaximumMessageSize: "1024" });
    const received = queue.receive();
    expect(await codeOf(queue.send(xs(1025)))).toMatch(/1024 bytes/);
    await queue.send(xs(1024));
    expect([await received, await queue.receive()]).toMatchObject([[{}], [{}]]);
    await queue.set({ MaximumMessageSize: "", ReceiveMessageWaitTimeSeconds: "" });
    expect(await queue.attributes()).toMatchObject({ MaximumMessageSize: "1048576" });
  });

  test.each([
    ["RedrivePolicy", "{}", /^InvalidAttributeName: .*RedrivePolicy is not supported/],
    ["FifoQueue", "true", /FifoQueue is not supported/],
    ["KmsMasterKeyId", "key", /KmsMasterKeyId is not supported/],
    ["Nonsense", "1", /^InvalidAttributeName: Unknown Attribute Nonsense/],
    ["VisibilityTimeout", "43201", /^InvalidAttributeValue: .*VisibilityTimeout.*43200/],
    ["DelaySeconds", "1.5", /^InvalidAttributeValue: .*DelaySeconds/],
    ["MaximumMessageSize", "1023", /^InvalidAttributeValue: .*MaximumMessageSize/],
    ["MessageRetentionPeriod", "59", /^InvalidAttributeValue: .*MessageRetentionPeriod/],
    ["ReceiveMessageWaitTimeSeconds", "21", /^InvalidAttributeValue/],
  ])("rejects the attribute %s=%s by its name", async (name, value, error) => {
    await using queue = await start();
    const before = await queue.attributes();
    expect(await codeOf(queue.set({ DelaySeconds: "5", [name]: value }))).toMatch(error);
    const { client } = queue;
    const create = { QueueName: "payment-events", Attributes: { [name]: value } };
    expect(await codeOf(client.send(new CreateQueueCommand(create)))).toMatch(error);
    expect(await queue.attributes()).toEqual(before);
  });

  test("is created again by its name; other attributes, other names and a deletion are errors", async () => {
    await using queue = await start();
    const { QueueUrl, client } = queue;
    const create = (QueueName: string, Attributes = {}) =>
      client.send(new CreateQueueCommand({ QueueName, Attributes }));
    expect((await create("payment-events", { VisibilityTimeout: "30", FifoQueue: "false" })).QueueUrl).toBe(
      QueueUrl,
    );
    expect(await codeOf(create("payment-events", { VisibilityTimeout: "31" }))).toMatch(
      /QueueAlreadyExists.*VisibilityTimeout/,
    );
    expect(await codeOf(create("other"))).toMatch(/UnsupportedOperation.*one queue, payment-events/);
    // Nobody has set a retention before.
    await create("payment-events", { MessageRetentionPeriod: "345600" });
    expect(await queue.attributes()).toMatchObject({ MessageRetentionPeriod: "345600" });
    expect(await codeOf(create("payment-events", { MessageRetentionPeriod: "60" }))).toMatch(
      /QueueAlreadyExists/,
    );
    expect(await codeOf(client.send(new DeleteQueueCommand({ QueueUrl })))).toMatch(/UnsupportedOperation/);
    expect(await codeOf(client.send(new TagQueueCommand({ QueueUrl, Tags: { a: "1" } })))).toMatch(
      /UnsupportedOperation/,
    );
    expect(await codeOf(client.send(new GetQueueUrlCommand({ QueueName: "other" })))).toMatch(
      /NonExistentQueue/,
    );
    const list = async (QueueNamePrefix: string) =>
      (await client.send(new ListQueuesCommand({ QueueNamePrefix }))).QueueUrls ?? [];
    expect([await list("pay"), await list("x")]).toEqual([[QueueUrl], []]);
    const names = { QueueUrl, AttributeNames: ["Nonsense" as "All"] };
    expect(await codeOf(client.send(new GetQueueAttributesCommand(names)))).toMatch(/^InvalidAttributeName/);
  });

  test("is purged of all messages, and of no later one", async () => {
    await using queue = await start();
    const { QueueUrl, client } = queue;
    for (const body of ["1", "2"]) await queue.send(body);
    await queue.send("3", { DelaySeconds: 900 });
    await queue.receive({ MaxNumberOfMessages: 1 });
    await client.send(new PurgeQueueCommand({ QueueUrl }));
    await queue.send("later");
    expect((await queue.receive({ WaitTimeSeconds: 20 })).map(({ Body }) => Body)).toEqual(["later"]);
    await eventually(async () => expect(await queue.counts()).toEqual([0, 1, 0]));
    await client.send(new PurgeQueueCommand({ QueueUrl }));
    await eventually(async () => expect(await queue.counts()).toEqual([0, 0, 0]));
  });
});
