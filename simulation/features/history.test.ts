import fc from "fast-check";
import { expect, test } from "vitest";
import { type Command, isLinearizable, type Operation, type Result } from "./history.ts";

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
const added = at(0, 1, add, true);

test.each<[isValid: boolean, name: string, history: Operation[]]>([
  [true, "an empty one", []],
  [true, "operations in order", [added, at(2, 3, has, true), at(4, 5, add, false)]],
  [true, "concurrent ones with an order", [at(0, 9, add, true), at(1, 2, has, false), at(3, 4, has, true)]],
  [true, "a late effect, no response", [at(0, undefined, add), at(9, 10, has, false), at(11, 12, has, true)]],
  [true, "no effect, no response", [at(0, undefined, clear), at(1, 2, add, true), at(3, 4, list, ["a"])]],
  [false, "a confirmed addition that is not visible", [added, at(2, 3, has, false)]],
  [false, "an addition that disappears", [at(0, 9, add, true), at(1, 2, has, true), at(3, 4, has, false)]],
  [false, "two additions of a feature that find it new", [at(0, 5, add, true), at(1, 5, add, true)]],
  [false, "two lists at once", [added, at(2, 3, list, ["a"]), at(2, 3, list, [])]],
  [false, "a removed feature that is visible", [added, at(2, 3, remove), at(4, 5, list, ["a"])]],
])("it is %s that a history is linearizable with %s", (isValid, _name, history) => {
  expect(isLinearizable(history)).toBe(isValid);
});

test("a history with the results of any sequence of commands is linearizable", () => {
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
