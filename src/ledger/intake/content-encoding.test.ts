import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { ReceivedMessage } from "../queue/queue.ts";
import { decodeContent } from "./content-encoding.ts";
import { messageBytesMax } from "./message.ts";

const delivery = (bytes: Uint8Array, size: number, contentEncoding = "gzip"): ReceivedMessage => ({
  ...{ id: "1", body: "", bytes, size, contentEncoding, attempt: 1, receipt: "1" },
});
const text = "é".repeat(messageBytesMax / 2);

test("a message in gzip is read, up to 1 MiB", async () => {
  expect(await decodeContent(delivery(gzipSync(text), messageBytesMax))).toEqual({ body: text });
  expect(await decodeContent(delivery(gzipSync(""), 20))).toEqual({ body: "" });
  const bytes = Buffer.from([0x7b, 0xff]);
  expect(await decodeContent(delivery(gzipSync(bytes), 2))).toMatchObject({ bytes });
});

test.each([
  ["is longer than it says", delivery(gzipSync(text), 1000), "the message is not valid gzip"],
  [
    "is larger than 1 MiB",
    delivery(gzipSync(`${text}.`), messageBytesMax + 1),
    "the message is larger than 1 MiB",
  ],
  ["is cut off", delivery(gzipSync(text).subarray(0, 100), 1000), "the message is not valid gzip"],
  ["is no gzip", delivery(Buffer.from("{}"), 2), "the message is not valid gzip"],
  ["is empty", delivery(Buffer.of(), 0), "the message is not valid gzip"],
  [
    "has another encoding",
    delivery(Buffer.from("{}"), 2, "br"),
    "the content encoding of the message must be gzip or none",
  ],
  [
    "has an encoding with a character that PostgreSQL does not store",
    delivery(Buffer.from("{}"), 2, "b\0r"),
    "the content encoding of the message must be gzip or none",
  ],
])("a message that %s is not", async (_title, given, reason) => {
  expect(await decodeContent(given)).toBe(reason);
});
