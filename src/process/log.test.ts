import { expect, test } from "vitest";
import { openLog } from "./log.ts";

/** The error as the log writes it. */
function loggedError(err: unknown) {
  const lines: string[] = [];
  openLog("info", { write: (line) => lines.push(line) }).error({ err }, "failed");
  return JSON.parse(lines.join("")).err;
}

test("an error and its causes are logged with type, code, message and stack, without other properties", () => {
  const secret = { address: "planted", detail: "planted", params: ["planted"] };
  const refused = { code: "ECONNREFUSED", ...secret };
  const connectionError = Object.assign(new Error("connect ECONNREFUSED"), refused);
  const cause = new AggregateError([connectionError, "planted"], "all attempts failed");
  const error = Object.assign(new TypeError("fetch failed", { cause }), secret);
  const stack = expect.stringMatching(/^ {4}at .*log\.test\.ts/);
  expect(loggedError(error)).toEqual({
    type: "TypeError",
    message: "fetch failed",
    stack,
    cause: {
      type: "AggregateError",
      message: "all attempts failed",
      stack,
      errors: [
        { type: "Error", code: "ECONNREFUSED", message: "connect ECONNREFUSED", stack },
        { type: "string" },
      ],
    },
  });
});

test.each([
  ["of JSON.parse", () => JSON.parse("planted"), "SyntaxError"],
  ["of BigInt", () => BigInt("planted"), "SyntaxError"],
  ["of an invalid value in PostgreSQL", () => raise({ code: "22P02" }), "22P02"],
  ["of a trigger", () => raise({ code: "P0001" }), "P0001"],
  ["of a trigger with another SQLSTATE", () => raise({ code: "23514", routine: "exec_stmt_raise" }), "23514"],
])("a message that can quote data is withheld: a message %s", async (_name, work, kind) => {
  const caught = (async () => work())().catch((error: unknown) => error);
  const logged = loggedError(await caught);
  expect(logged).toMatchObject({ message: `withheld, because it can quote data (${kind})` });
  expect(JSON.stringify(logged)).not.toContain("planted");
});

function raise(properties: object): never {
  throw Object.assign(new Error('invalid input: "planted"'), properties);
}

test("the message of a SyntaxError in a module is logged", async () => {
  const code = "data:text/javascript,import { nothing } from 'node:fs'";
  const error = await import(code).catch((caught) => caught);
  expect(error).toBeInstanceOf(SyntaxError);
  expect(loggedError(error).message).toContain("does not provide an export named 'nothing'");
});

test.each(["23505", "42P01", "57014", "ENOENT", 404])(
  "the message of an error with code %s is logged",
  (code) => {
    const message = "reason";
    expect(loggedError(Object.assign(new Error(message), { code }))).toMatchObject({ code, message });
  },
);
