import { problems } from "../../../generated/ledger.problems.ts";
import type { RenderError } from "../../http/errors.ts";
import { type Failure, failure, messagesOf, parameterFault } from "../../http/failure.ts";
import { openProblems, problemJson } from "../../http/problem.ts";

const problemOf = openProblems(problems);

/** Every error is a problem document with two more members, for clients of alphagov/pay-ledger. */
export const renderError: RenderError = (failed) => ({
  type: problemJson,
  body: { ...problemOf(failed), error_identifier: "GENERIC", message: messagesOf(failed) },
});

/** The failure of a request with a wrong query parameter. */
export const wrong = (parameter: string, rule: Record<string, unknown>, detail: string): Failure<400> =>
  failure(400, parameterFault(parameter, rule, detail));

/** The failure of a request that lacks a query parameter. */
export const missing = (parameter: string, detail = `Field [${parameter}] cannot be empty`): Failure<400> =>
  wrong(parameter, { required: true }, detail);

export const timeZoneUnknown = wrong(
  "time_zone",
  { format: "time-zone" },
  "query parameter time_zone must be a time zone that the database knows, such as Europe/London",
);
export const accountMissing = missing("account_id");
export const unknownCursor = wrong(
  "cursor",
  { from: "Link" },
  "query parameter cursor must be from a header Link",
);
export const pageMissing = failure(404, "the requested page not found");
