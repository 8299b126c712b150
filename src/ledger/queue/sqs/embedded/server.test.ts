import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { eventually } from "../../../../../testing/eventually.ts";
import { startWithClient } from "./client.fixture.ts";
import { openMessages } from "./messages.ts";

const mebibyte = 2 ** 20;
const path = "/000000000000/payment-events";

/** Sends a request of the JSON protocol. Resolves with its status and the code of its error. */
async function post(address: string, operation: string, body: string, headers = {}) {
  const response = await fetch(address, {
    method: "POST",
    headers: { "x-amz-target": `AmazonSQS.${operation}`, ...headers },
    body,
  });
  const content = await response.text();
  return `${response.status} ${/#(\w+)"/.exec(content)?.[1] ?? content}`;
}

/**
 * Collects the server's responses, in the order of their requests. Switches off the timeouts of the server first, since they
 * would decide on a slow machine.
 */
async function watchServer(address: string) {
  const requests = "http.server.request.start";
  const responses: ServerResponse[] = [];
  function onRequest(message: unknown): void {
    const { server, response } = message as { server: Server; response: ServerResponse };
    Object.assign(server, { timeout: 0, requestTimeout: 0, headersTimeout: 0 });
    responses.push(response);
  }
  subscribe(requests, onRequest);
  await post(address, "ListQueues", "{}");
  responses.length = 0;
  return { responses, [Symbol.dispose]: () => unsubscribe(requests, onRequest) };
}

test("what is malformed gets an error of SQS, and the server goes on", async () => {
  await using server = await startWithClient();
  const { address, QueueUrl } = server;
  const json = (input: object) => JSON.stringify({ QueueUrl, ...input });
  for (const [operation, body, response] of [
    ["SendMessage", "{", "400 SerializationException"],
    ["SendMessage", "[]", "400 SerializationException"],
    ["SendMessage", "{}", "400 MissingParameter"],
    ["SendMessage", json({ MessageBody: 1 }), "400 SerializationException"],
    ["SendMessage", json({ MessageBody: "1", DelaySeconds: "1" }), "400 SerializationException"],
    ["SendMessage", json({ MessageBody: "1", MessageAttributes: { a: null } }), "400 SerializationException"],
    ["SendMessage", json({ MessageBody: "1", MessageAttributes: { __proto__: 1 } }), "200"],
    ["SendMessageBatch", json({ Entries: {} }), "400 SerializationException"],
    ["SendMessageBatch", json({ Entries: [null] }), "400 SerializationException"],
    ["DeleteMessage", json({ ReceiptHandle: "AAAA" }), "400 ReceiptHandleIsInvalid"],
    ["constructor", "{}", "400 InvalidAction"],
    ["DeleteQueue", json({}), "400 UnsupportedOperation"],
    ["SendMessage", `{"QueueUrl":"${"[".repeat(7 * mebibyte)}"}`, "400 QueueDoesNotExist"],
    ["SendMessage", "[".repeat(7 * mebibyte), "400 SerializationException"],
    ["SendMessage", `{"QueueUrl":"${"/".repeat(7 * mebibyte)}"}`, "400 QueueDoesNotExist"],
    [
      "SendMessage",
      json({
        MessageBody: "1",
        MessageAttributes: { a: { DataType: "Number", StringValue: `${"1".repeat(mebibyte)}x` } },
      }),
      "400 InvalidParameterValue",
    ],
  ] as const)
    expect(await post(address, operation, body), body.slice(0, 100)).toContain(response);
  const get = await fetch(address);
  expect([get.status, await get.text()]).toEqual([405, expect.stringContaining("InvalidAction")]);
  const form = (body: string) =>
    fetch(address + path, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body,
    }).then(async (response) => `${response.status} ${await response.text()}`);
  expect(await form("a=1&".repeat(2000))).toMatch(/^400 .*MalformedQueryString/);
  expect(await form("Action=SendMessage&MessageBody.1.2.3.4.5.6.7.8.9.10=1")).toMatch(
    /^400 .*MissingParameter/,
  );
  expect(await form("__proto__.x=1&Action=SendMessage&MessageBody=1&constructor.prototype.y=1")).toMatch(
    /^200 /,
  );
  const notUtf8 = await fetch(address, { method: "POST", body: Buffer.from([0x22, 0xff, 0x22]) });
  expect(await notUtf8.text()).toContain("MalformedInput");
});

test("a page in a browser cannot send", async () => {
  await using server = await startWithClient();
  const origin = { origin: "http://localhost" };
  expect(await post(server.address, "ListQueues", "{}", origin)).toBe("403 AccessDenied");
});

test("a body with every character escaped, in either protocol, is accepted up to 1 MiB", async () => {
  await using server = await startWithClient();
  const { address, QueueUrl, folder } = server;
  const escaped = `{"QueueUrl":"${QueueUrl}","MessageBody":"${"\\u0041".repeat(mebibyte)}"}`;
  expect(await post(address, "SendMessage", escaped)).toMatch(/^200/);
  const form = await fetch(address + path, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: `Action=SendMessage&MessageBody=${"%41".repeat(mebibyte)}`,
  });
  expect(form.status).toBe(200);
  using messages = openMessages(folder);
  const [first, second] = messages.transaction(() => messages.receive(2, 0));
  expect([first?.body, second?.body]).toEqual([first?.body, "A".repeat(mebibyte)]);
});

describe("bodies that are never complete", () => {
  /** Sends the beginning of a request with this length, and keeps its response. */
  async function begin(
    address: string,
    bytes: number,
    length: number,
  ): Promise<{ socket: Socket; response: Promise<string> }> {
    const { port, hostname } = new URL(address);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    socket.write(`POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${length}\r\n\r\n`);
    socket.write(Buffer.alloc(bytes, 0x20));
    return { socket, response: text(socket).catch(() => "closed") };
  }

  test("are rejected at once if they are declared to be longer than 8 MiB", async () => {
    await using server = await startWithClient();
    const { response } = await begin(server.address, 0, 8 * mebibyte + 1);
    expect(await response).toMatch(/^HTTP\/1.1 413 .*RequestEntityTooLarge/s);
  });

  test("are dropped beyond 32 MiB, the one that has waited longest first, with the error that clients retry", async () => {
    await using server = await startWithClient();
    const { address, QueueUrl } = server;
    using watched = await watchServer(address);
    const begun = [];
    for (let count = 0; count < 8; count += 1) {
      begun.push(await begin(address, 5 * mebibyte, 8 * mebibyte));
      // The server has all of this one before the next one begins.
      const received = () => watched.responses[count]?.req.socket.bytesRead;
      await eventually(() => expect(received()).toBeGreaterThan(5 * mebibyte));
    }
    const [first, second] = begun;
    expect(await first?.response).toMatch(/^HTTP\/1.1 503 .*ServiceUnavailable/s);
    expect(await second?.response).toMatch(/^HTTP\/1.1 503 .*ServiceUnavailable/s);
    const input = { QueueUrl, MessageBody: "1" };
    expect(await post(address, "SendMessage", JSON.stringify(input))).toMatch(/^200/);
    for (const { socket } of begun) socket.destroy();
    await eventually(async () => expect(await post(address, "ListQueues", "{}")).toMatch(/^200/));
  });
});

test("receivers that do not read leave the messages beyond 32 MiB to others", async () => {
  await using server = await startWithClient();
  const { address, QueueUrl, folder } = server;
  using messages = openMessages(folder);
  using watched = await watchServer(address);
  // Each is twice as large in a response, so that the buffers of the kernel cannot take the response of four messages.
  const body = '"'.repeat(mebibyte);
  for (let count = 0; count < 60; count += 10)
    messages.transaction(() => {
      for (let index = 0; index < 10; index += 1) messages.append({ body });
    });
  const { port, hostname } = new URL(address);
  const sockets: Socket[] = [];
  for (let count = 0; count < 20; count += 1) {
    const socket = connect(Number(port), hostname).pause();
    sockets.push(socket);
    const body = JSON.stringify({ QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 43_200 });
    const head = `POST / HTTP/1.1\r\nhost: localhost\r\nx-amz-target: AmazonSQS.ReceiveMessage\r\n`;
    socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`);
  }
  // A receiver whose request is handled after the end of its connection would take messages.
  await eventually(() => {
    expect(watched.responses.filter(({ headersSent }) => headersSent)).toHaveLength(sockets.length);
  });
  expect(messages.counts().inFlight).toBeGreaterThanOrEqual(32);
  expect(await post(address, "ReceiveMessage", JSON.stringify({ QueueUrl }))).toBe("200 {}");
  expect(messages.counts().inFlight).toBeLessThanOrEqual(36);
  for (const socket of sockets) socket.destroy();
  const wait = JSON.stringify({ QueueUrl, WaitTimeSeconds: 20 });
  expect(await post(address, "ReceiveMessage", wait)).toMatch(/^200 \{"Messages"/);
});

test("a stop ends those who wait, with no message", async () => {
  const server = await startWithClient();
  const { address, QueueUrl } = server;
  const waiting = post(address, "ReceiveMessage", JSON.stringify({ QueueUrl, WaitTimeSeconds: 20 }));
  await post(address, "ListQueues", "{}");
  await server[Symbol.asyncDispose]();
  expect(await waiting).toBe("200 {}");
});

test("messages that another process writes, and one that becomes visible, wake those who wait", async () => {
  await using server = await startWithClient();
  const { address, QueueUrl, folder } = server;
  const input = { QueueUrl, WaitTimeSeconds: 20 };
  const receive = () => post(address, "ReceiveMessage", JSON.stringify({ ...input, VisibilityTimeout: 1 }));
  const waiting = receive();
  await post(address, "ListQueues", "{}");
  using other = openMessages(folder);
  other.transaction(() => other.append({ body: "from another" }));
  expect(await waiting).toContain("from another");
  expect(await receive()).toContain("from another");
});

test("a request waits while another process writes; one that only reads does not", async () => {
  await using server = await startWithClient();
  const { address, QueueUrl, folder } = server;
  const call = (operation: string, input: object) =>
    post(address, operation, JSON.stringify({ QueueUrl, ...input }));
  const other = new DatabaseSync(join(folder, "messages.sqlite"));
  other.exec("begin immediate");
  const sent = call("SendMessage", { MessageBody: "1" });
  expect(await call("GetQueueAttributes", { AttributeNames: ["All"] })).toMatch(/^200/);
  other.exec("commit");
  other.close();
  expect(await sent).toMatch(/^200/);
});
