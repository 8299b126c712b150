import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Command, isLinearizable, type Operation, type Result, smallestHistory } from "./history.ts";

/** An operation without a response if `respondedAt` is undefined. */
const at = (
  startedAt: number,
  respondedAt: number | undefined,
  command: Command,
  result: Result = null,
): Operation => ({
  command,
  startedAt,
  process: 0,
  ...(respondedAt !== undefined && { response: { at: respondedAt, result } }),
});
const add: Command = { type: "add", feature: "a" };
const remove: Command = { type: "remove", feature: "a" };
const has: Command = { type: "has", feature: "a" };
const list: Command = { type: "list" };
const clear: Command = { type: "clear" };

describe("a history is linearizable", () => {
  test.each<[string, Operation[]]>([
    [
      "if sequential operations have the results of their order",
      [at(0, 1, add, true), at(2, 3, has, true), at(4, 5, add, false)],
    ],
    [
      "if an order explains the results of concurrent operations",
      [at(0, 9, add, true), at(1, 2, has, false), at(3, 4, has, true)],
    ],
    [
      "if an operation without a response takes effect late",
      [at(0, undefined, add), at(9, 10, has, false), at(11, 12, has, true)],
    ],
    [
      "if an operation without a response never takes effect",
      [at(0, undefined, clear), at(1, 2, add, true), at(3, 4, list, ["a"])],
    ],
    ["if it is empty", []],
  ])("%s", (_name, history) => {
    expect(isLinearizable(history)).toBe(true);
  });

  test("if it has the results of any sequence of commands", () => {
    const anyCommands = fc.array(
      fc.constantFrom<Command>(add, remove, has, list, clear, { type: "add", feature: "b" }),
    );
    fc.assert(
      fc.property(anyCommands, (commands) => {
        const features = new Set<string>();
        const history = commands.map((command, index) =>
          at(2 * index, 2 * index + 1, command, resultOf(features, command)),
        );
        expect(isLinearizable(history)).toBe(true);
      }),
    );
  });
});

/** Executes a command on a set, which keeps the order of additions. */
function resultOf(features: Set<string>, command: Command): Result {
  if (command.type === "list") return [...features];
  if (command.type === "has") return features.has(command.feature);
  if (command.type === "add") {
    const isNew = !features.has(command.feature);
    features.add(command.feature);
    return isNew;
  }
  if (command.type === "remove") features.delete(command.feature);
  else features.clear();
  return null;
}

describe("a history is not linearizable", () => {
  test.each<[string, Operation[]]>([
    ["if a confirmed addition is not visible", [at(0, 1, add, true), at(2, 3, has, false)]],
    [
      "if an addition is visible and then is not",
      [at(0, 9, add, true), at(1, 2, has, true), at(3, 4, has, false)],
    ],
    ["if two additions of a feature find it new", [at(0, 5, add, true), at(1, 5, add, true)]],
    ["if two lists differ", [at(0, 1, add, true), at(2, 3, list, ["a"]), at(2, 3, list, [])]],
    ["if a removed feature is visible", [at(0, 1, add, true), at(2, 3, remove), at(4, 5, list, ["a"])]],
  ])("%s", (_name, history) => {
    expect(isLinearizable(history)).toBe(false);
  });

  test("and its smallest part leaves out the reads that are not needed", () => {
    const [addition, missed] = [at(0, 1, add, true), at(4, 5, has, false)];
    expect(smallestHistory([addition, at(2, 3, has, true), missed])).toEqual([addition, missed]);
  });
});
