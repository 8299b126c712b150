import { describe, expect, test } from "vitest";
import { parseCommandLine, UsageError } from "./command.ts";

describe("a command line", () => {
  const parse = (...args: string[]) => {
    const options = { "known-at": { type: "string" }, "dry-run": { type: "boolean" } } as const;
    const { values, positionals } = parseCommandLine({ args, options, allowPositionals: true });
    return [values["known-at"], values["dry-run"] ?? false, positionals];
  };

  test.each([
    [
      ["--known-at", "-Ab1_"],
      ["-Ab1_", false, []],
    ],
    [
      ["--known-at", "--Ab1_"],
      ["--Ab1_", false, []],
    ],
    [
      ["--known-at", "-", "pay-1"],
      ["-", false, ["pay-1"]],
    ],
    [
      ["--known-at=-Ab1_", "--dry-run", "pay-1"],
      ["-Ab1_", true, ["pay-1"]],
    ],
    [["pay-1", "--dry-run", "--known-at", "-A", "-B", "--", "--known-at", "-C"], undefined],
    [
      ["pay-1", "--known-at", "-A", "--", "--known-at", "-C"],
      ["-A", false, ["pay-1", "--known-at", "-C"]],
    ],
    [["--known-at", "--dry-run"], undefined],
    [["--known-at", "--known-at=A"], undefined],
    [["--known-at", "--", "pay-1"], undefined],
    [["--known-at"], undefined],
    [["-Ab1_"], undefined],
  ])("%j", (args, parsed) => {
    if (parsed) expect(parse(...args)).toEqual(parsed);
    else expect(() => parse(...args)).toThrow(UsageError);
  });
});
