import { STATUS_CODES } from "node:http";
import { Refusal } from "./http-error.ts";

/** How one service words its errors. */
export interface ErrorReply {
  type: string;
  body: unknown;
}
/** Words an error; the request's route, as the router has it, and path parameters are told where it got so far. */
export type RenderError = (
  status: number,
  messages: string[],
  asked?: { route: string | undefined; path: object },
) => ErrorReply;

interface Explained {
  status: number;
  messages: string[];
  headers: Record<string, string>;
}

const frameworkTexts: Record<string, string> = {
  FST_ERR_BAD_URL: "malformed percent-encoding in the path",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "the content type of the body must be application/json",
  FST_ERR_CTP_BODY_TOO_LARGE: "the body is larger than 1 MiB",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "the body is not as long as its content-length says",
};

/**
 * What was thrown, out of what the binder makes of it: it tries each alternative of an operation's security, and puts
 * what they threw into an error of its own. Something unexpected comes first. Of refusals the highest status decides:
 * whoever is known and may not (403) is told so, and not to log in (401) by another scheme.
 */
export function thrownIn(error: unknown): unknown {
  const { name, errors } = error as { name?: string; errors?: unknown[] };
  if (name !== "Unauthorized" || errors === undefined) return error;
  const refusals = errors.filter((one) => one instanceof Refusal);
  if (refusals.length < errors.length) return errors.find((one) => !(one instanceof Refusal));
  const status = Math.max(...refusals.map((refusal) => refusal.status));
  const deciding = refusals.filter((refusal) => refusal.status === status);
  const messages = new Set(deciding.flatMap((refusal) => refusal.messages));
  return new Refusal(status, [...messages], deciding[0]?.headers);
}

/**
 * What a caller may know of an error: everything of a refusal, what the framework says of the request in our words,
 * nothing of the unexpected.
 */
export function explain(error: unknown): Explained {
  if (error instanceof Refusal) return error;
  const { code: given, statusCode = 500 } = error as { code?: unknown; statusCode?: number };
  // The platform's own exceptions have a number there.
  const code = typeof given === "string" ? given : "";
  const text = frameworkTexts[code] ?? (code.startsWith("FST_") ? STATUS_CODES[statusCode] : undefined);
  if (text !== undefined && statusCode < 500) return { status: statusCode, messages: [text], headers: {} };
  return { status: 500, messages: ["something unexpected happened; it has been logged"], headers: {} };
}
