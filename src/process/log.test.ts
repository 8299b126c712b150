import { expect, test } from "vitest";
import { openLog } from "./log.ts";

function toldOf(err: unknown) {
  const lines: string[] = [];
  openLog("info", { write: (line) => lines.push(line) }).error({ err }, "it failed");
  return JSON.parse(lines.join("")).err;
}

test("of an error and of those behind it is told what, where and why, and nothing that hangs on it", () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED"), {
    code: "ECONNREFUSED",
    address: "planted",
  });
  const cause = new AggregateError([refused, "planted"], "all of them");
  const error = Object.assign(new TypeError("fetch failed", { cause }), {
    detail: "planted",
    params: ["planted"],
  });
  const stack = expect.stringMatching(/^ {4}at .*log\.test\.ts/);
  expect(toldOf(error)).toEqual({
    type: "TypeError",
    message: "fetch failed",
    stack,
    cause: {
      type: "AggregateError",
      message: "all of them",
      stack,
      errors: [
        { type: "Error", code: "ECONNREFUSED", message: "connect ECONNREFUSED", stack },
        { type: "string" },
      ],
    },
  });
});

test.each([
  ["syntax", () => JSON.parse("planted"), "SyntaxError"],
  ["a number", () => BigInt("planted"), "SyntaxError"],
  ["a value", () => raise({ code: "22P02" }), "22P02"],
  ["what a trigger raises", () => raise({ code: "P0001" }), "P0001"],
  [
    "what a trigger raises as something else",
    () => raise({ code: "23514", routine: "exec_stmt_raise" }),
    "23514",
  ],
])("a message that can quote data is withheld: %s", async (_name, work, kind) => {
  const told = toldOf(
    await Promise.resolve()
      .then(work)
      .catch((error) => error),
  );
  expect(told).toMatchObject({ message: `withheld, because it can quote data (${kind})` });
  expect(JSON.stringify(told)).not.toContain("planted");
});

function raise(members: object): never {
  throw Object.assign(new Error('invalid input: "planted"'), members);
}

test("a message about code that cannot be loaded is told", async () => {
  const code = "data:text/javascript,import { nothing } from 'node:fs'";
  const error = await import(code).catch((caught) => caught);
  expect(error).toBeInstanceOf(SyntaxError);
  expect(toldOf(error).message).toContain("does not provide an export named 'nothing'");
});

test.each(["23505", "42P01", "57014", "ENOENT", 404])("a message with the code %s is told", (code) => {
  expect(toldOf(Object.assign(new Error("why"), { code }))).toMatchObject({ code, message: "why" });
});
