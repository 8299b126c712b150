import { isUtf8 } from "node:buffer";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { ReceivedMessage } from "../queue/queue.ts";
import { messageBytesMax, tooLarge } from "./message.ts";

const inflate = promisify(gunzip);

/** The content of a delivery, without its content encoding. */
export type Content = Pick<ReceivedMessage, "body" | "bytes">;

/**
 * The content of a delivery, or why its content encoding cannot be removed. The content is no larger than the `size` of the
 * delivery, so that a small message does not take much memory.
 */
export async function decodeContent(delivery: ReceivedMessage): Promise<Content | string> {
  const { bytes = Buffer.of(), contentEncoding, size } = delivery;
  if (contentEncoding === undefined) return delivery;
  if (contentEncoding !== "gzip") return "the content encoding of the message must be gzip or none";
  if (size > messageBytesMax) return tooLarge;
  try {
    const content = await inflate(bytes, { maxOutputLength: Math.max(1, size) });
    return { body: content.toString(), ...(!isUtf8(content) && { bytes: content }) };
  } catch {
    return "the message is not valid gzip";
  }
}
