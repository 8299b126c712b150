import type { RenderError } from "../../http/errors.ts";
import { featuresMax } from "../store/store.ts";

/** The error responses of this service are one line of plain text. */
export function errorLine<Status extends number>(status: Status, message: string) {
  return { status, type: "text/plain" as const, body: `${oneLine(message)}\n` };
}

/** The error responses of flags are JSON, as OFREP requires. */
export const renderError: RenderError = (status, messages, request) => {
  const message = messages.join("; ");
  if (!request?.route?.startsWith("/ofrep/")) return errorLine(status, message);
  const errorDetails = oneLine(message);
  const isOfContext = messages.every((one) => one.startsWith("body/context/"));
  const errorCode = isOfContext ? "INVALID_CONTEXT" : "PARSE_ERROR";
  const isOfEvaluation = request.route.startsWith("/ofrep/v1/evaluate/");
  const body =
    status === 400 && isOfEvaluation ? { ...request.path, errorCode, errorDetails } : { errorDetails };
  return { type: "application/json", body };
};

const oneLine = (message: string) => message.replaceAll(/[\r\n]+/g, " ") || "the store failed";

export const unknownCursor =
  "the cursor is unknown, or records after it have been deleted; " +
  "read the data again, then the feed from cursor=newest";

export const tooManyFeatures = `would have more than ${featuresMax.toLocaleString("en")} features, the maximum`;
