import { expect, test } from "vitest";
import { viewPublication } from "./publication.ts";

const state = { target: "payments", problem: null, behind_ms: 0n, deferred: 0, waiting: [] };
const messageOf = (problem: string) => viewPublication({ ...state, problem }).message;
const hidden = "the reason is that of an earlier release, and not shown";

test.each([
  "The target takes nothing: there is no response (ECONNREFUSED)",
  "The target takes nothing: the target responded with 403 (AuthorizationErrorException)",
  "Limited by the target: nothing is sent before 2024-03-05T09:14:22Z: the target responded with 429",
  "The target has not taken event 17 of payment/pay 1:a: the broker does not confirm a message",
])("the problem is shown that a publisher of this release records: %s", (problem) => {
  expect(messageOf(problem)).toBe(problem);
});

test.each([
  ["The target takes nothing: Planted Name", `The target takes nothing: ${hidden}`],
  [`The target takes nothing: ${"Planted ".repeat(9999)}`, `The target takes nothing: ${hidden}`],
  [
    "The target has not taken event 17 of payment/pay1: Planted: the target responded with 500",
    `The target has not taken event 17 of payment/pay1: ${hidden}`,
  ],
  [
    "Limited by the target: nothing is sent before Planted: the target responded with 429",
    `Events wait: ${hidden}`,
  ],
  ["Planted Name", `Events wait: ${hidden}`],
])("a text of a target, which an earlier release has recorded, is not: %.60s", (problem, message) => {
  expect(messageOf(problem)).toBe(message);
});
