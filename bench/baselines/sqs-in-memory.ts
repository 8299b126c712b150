import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { parentPort } from "node:worker_threads";

// A thread with a server of SQS that gives each message once and stores nothing. It posts its URL. A list of bodies that is
// posted to it replaces the messages that it gives.

const digestOf = (text: string) => createHash("md5").update(text).digest("hex");

let messages: { MessageId: string; ReceiptHandle: string; Body: string; MD5OfBody: string }[] = [];
parentPort?.on("message", (bodies: string[]) => {
  messages = bodies.map((Body, index) => ({
    ...{ MessageId: String(index), ReceiptHandle: String(index), Body, MD5OfBody: digestOf(Body) },
  }));
  parentPort?.postMessage("ready");
});

const server = createServer(async (request, response) => {
  const input = (await json(request)) as { MaxNumberOfMessages: number; Entries: { Id: string }[] };
  const output = String(request.headers["x-amz-target"]).endsWith("ReceiveMessage")
    ? { Messages: messages.splice(0, input.MaxNumberOfMessages) }
    : { Successful: input.Entries.map(({ Id }) => ({ Id })), Failed: [] };
  response.setHeader("content-type", "application/x-amz-json-1.0").end(JSON.stringify(output));
});
server.listen(0, "127.0.0.1", () => {
  parentPort?.postMessage(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
