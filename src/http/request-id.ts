import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Every response has it. A caller's own is kept, so that a request can be followed through several services. */
export const requestIdHeader = "x-request-id";

/** Visible characters of ASCII: they need no escape in a header and in a log. */
const idForm = /^[!-~]{1,128}$/;

/** The caller's id of the request, or a new one if it has none or not a valid one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">): string {
  const given = headers[requestIdHeader];
  return typeof given === "string" && idForm.test(given) ? given : newRequestId();
}

/** Random for each process; the rest counts its requests. A random UUID for each request takes 2 µs. */
const prefix = randomUUID().slice(0, "00000000-0000-0000-0000-".length);
const hexadecimal = (number: number, length: number) => number.toString(16).padStart(length, "0");
const lastDigits = Array.from({ length: 256 }, (_, number) => hexadecimal(number, 2));
let count = 0;
let firstDigits = "";

/** A unique id in the form of a UUID. Only its last two digits are written for each request. */
export function newRequestId(): string {
  const last = count % lastDigits.length;
  if (last === 0) firstDigits = prefix + hexadecimal(count / lastDigits.length, 10);
  count += 1;
  return firstDigits + lastDigits[last];
}

/** An error response in which a problem document names the request. */
export const withRequestId = (type: string, body: unknown, request_id: string): unknown =>
  type === "application/problem+json" ? { ...(body as object), request_id } : body;
