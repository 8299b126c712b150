import type { IncomingMessage, ServerResponse } from "node:http";
import { SqsError, unavailable } from "./protocol/sqs-error.ts";

/** Ten messages of 1 MiB together, with each character escaped as in `\u0041`, and what is around them. */
const bodyBytesMax = 8 * 2 ** 20;
/** For the bodies of all requests without a response. */
const bytesMax = 32 * 2 ** 20;

interface Reading {
  chunks: Buffer[];
  bytes: number;
  fail(error: SqsError): void;
}

const tooLarge = () =>
  new SqsError("RequestEntityTooLarge", `A request has up to ${bodyBytesMax} bytes.`, 413);

/**
 * Receives bodies of requests, bounded together. If they have too many bytes, the one fails that has been incomplete for the
 * longest time without receiving anything.
 */
export function openBodies() {
  // In the order in which they received something last.
  const readings = new Set<Reading>();
  let total = 0;

  function release(reading: Reading): void {
    readings.delete(reading);
    total -= reading.bytes;
    reading.bytes = 0;
  }

  function add(reading: Reading, chunk: Buffer): void {
    reading.chunks.push(chunk);
    reading.bytes += chunk.length;
    total += chunk.length;
    readings.delete(reading);
    readings.add(reading);
    if (reading.bytes > bodyBytesMax) reading.fail(tooLarge());
    while (total > bytesMax && readings.size > 0) {
      const [stalest] = readings;
      stalest?.fail(unavailable("Too many requests are being received."));
    }
  }

  /** Resolves with the text of the body. Rejects with an `SqsError` if it is too large, ends early or is no UTF-8. */
  return (request: IncomingMessage, response: ServerResponse): Promise<string> =>
    new Promise((resolve, reject) => {
      const reading: Reading = {
        chunks: [],
        bytes: 0,
        fail(error) {
          release(reading);
          request.removeAllListeners("data").pause();
          reject(error);
        },
      };
      readings.add(reading);
      response.once("close", () => release(reading));
      if (Number(request.headers["content-length"]) > bodyBytesMax) return reading.fail(tooLarge());
      const fail = (reason: string) => reading.fail(new SqsError("MalformedInput", reason));
      request.on("data", (chunk: Buffer) => add(reading, chunk));
      const endEarly = () => readings.has(reading) && fail("The request has ended early.");
      request.on("close", endEarly).on("error", endEarly);
      request.on("end", () => {
        readings.delete(reading);
        try {
          resolve(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(reading.chunks)));
        } catch {
          fail("The request is not valid UTF-8.");
        }
      });
    });
}
