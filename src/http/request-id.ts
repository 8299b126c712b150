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
let count = 0;

/** A unique id in the form of a UUID. */
export const newRequestId = (): string => prefix + (++count).toString(16).padStart(12, "0");
