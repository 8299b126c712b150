import { expect, test } from "vitest";
import { ConnectionError, ResponseError } from "../client/client.ts";
import { detailOf, needOf } from "./error-words.ts";
import { SignInError } from "./sign-in.ts";

function response(status: number, text: string, headers: Record<string, string> = {}) {
  return new ResponseError("searchTransactions", {
    status,
    headers: new Headers(headers),
    text,
    attempts: 3,
  });
}
const problem = (status: number, detail: string) =>
  response(status, JSON.stringify({ type: "/problems/some-kind", status, detail }));
const insufficient = 'Bearer error="insufficient_scope", scope="ledger:operate"';

test.each<[error: unknown, words: string]>([
  [new ConnectionError("getIntake", 3, new Error("Failed to fetch")), "The service cannot be reached. Check"],
  [new DOMException("getIntake took longer than 30000 ms", "TimeoutError"), "The service took too long."],
  [new TypeError("x is undefined"), "Something in this page has failed."],
  [new SignInError("Sign in again.", { isTransient: true }), "Sign in again."],
  [response(503, "", { "retry-after": "20" }), "The service is busy or not ready. Try again in 20 seconds."],
  [response(503, "", { "retry-after": "1" }), "The service is busy or not ready. Try again soon."],
  [response(429, "too many"), "The service is busy or not ready. Try again soon."],
  [problem(504, "no answer within 10000 ms"), "The service took too long."],
  [response(500, "ECONNREFUSED", { "x-request-id": "abc-1" }), "report the request abc-1."],
  [
    response(502, "<html>Bad gateway</html>"),
    "The service has failed. Try again; if it fails again, report it.",
  ],
  [
    response(403, "lacks", { "www-authenticate": insufficient }),
    "It needs the scope ledger:operate (to see the",
  ],
  [problem(403, "a page of another origin"), "a page of another origin"],
  [response(413, "<html>Too large</html>"), "The request was refused, with the status 413."],
  [response(200, '{"results": ['), "The response is not complete."],
  [problem(400, "query parameter from_date must be an instant"), "From date must be an instant"],
  [problem(400, 'query parameter id must match pattern "^[^,]*$"; b'), "Id is not valid; b"],
  [response(400, "path parameter feature must be shorter\n"), "Feature must be shorter"],
])("%s is said in words for people", (error, words) => {
  expect(detailOf(error)).toContain(words);
  expect(detailOf(error)).not.toMatch(/searchTransactions|getIntake|attempts|\^|undefined/);
});

test("one of several scopes is enough, also one of which nothing is known", () => {
  expect(needOf(["features:read", "other"])).toBe(
    "It needs the scope features:read (to see features) or other. Ask who manages access.",
  );
});
