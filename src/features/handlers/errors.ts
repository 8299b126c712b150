import type { RenderError } from "../../http/errors.ts";

/** Errors of this service are one line of plain text. */
export function errorLine<Status extends number>(status: Status, message: string) {
  return { status, type: "text/plain" as const, body: `${oneLine(message)}\n` };
}

/** Those of its flags are as their protocol has them. */
export const renderError: RenderError = (status, messages, asked) => {
  const message = messages.join("; ");
  if (!asked?.route?.startsWith("/ofrep/")) return errorLine(status, message);
  const errorDetails = oneLine(message);
  const body = status === 400 ? { ...asked.path, errorCode: "PARSE_ERROR", errorDetails } : { errorDetails };
  return { type: "application/json", body };
};

const oneLine = (message: string) => message.replaceAll(/[\r\n]+/g, " ") || "the store failed";
