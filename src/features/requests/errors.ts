import { problems } from "../../../generated/features.problems.ts";
import { acceptMax, preferredType } from "../../http/accept.ts";
import type { RenderError } from "../../http/errors.ts";
import { type Failure, failure, messagesOf, type RequestFault } from "../../http/failure.ts";
import { openProblems, problemJson } from "../../http/problem.ts";
import { featuresMax } from "../store/store.ts";

const problemOf = openProblems(problems);

/**
 * The error responses are one line of plain text, or a problem document for a caller who prefers JSON to text. Those of flags are
 * JSON, as OFREP requires.
 */
export const renderError: RenderError = (failed, request) => {
  const messages = messagesOf(failed);
  const line = messages.join("; ").replaceAll(/[\r\n]+/g, " ") || "the store failed";
  if (request?.route?.startsWith("/ofrep/")) {
    return { type: "application/json", body: flagFailure(failed, line, request.route, request.path) };
  }
  return prefersJson(request?.accept)
    ? { type: problemJson, body: problemOf(failed), isNegotiated: true }
    : { type: "text/plain", body: `${line}\n`, isNegotiated: true };
};

function flagFailure({ status, details }: Failure, errorDetails: string, route: string, path: object) {
  if (status !== 400 || !route.startsWith("/ofrep/v1/evaluate/")) return { errorDetails };
  const isOfContext = details.every((one) => typeof one !== "string" && one.pointer?.startsWith("/context/"));
  return { ...path, errorCode: isOfContext ? "INVALID_CONTEXT" : "PARSE_ERROR", errorDetails };
}

const types = ["text/plain", problemJson, "application/json"];

/** Without a preference the first type counts. */
function prefersJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === "*/*" || accept.length > acceptMax) return false;
  return /json$/.test(preferredType(accept, types) ?? "");
}

export const unknownCursor =
  "the cursor is unknown, or records after it have been deleted; " +
  "read the data again, then the feed from cursor=newest";

export const tooMany = `would have more than ${featuresMax.toLocaleString("en")} features, the maximum`;

/** The failure of a change after which a resource would have too many features. */
export const tooManyFeatures = (detail: string): Failure<400> => ({
  ...failure(400, detail),
  problem: "too-many-features",
});

/** The rule of an expiry time. */
export const future = { minimum: "now" };

export const expiryInThePast: RequestFault = {
  parameter: "expires_at",
  rule: future,
  detail: "query parameter expires_at must be in the future",
};
