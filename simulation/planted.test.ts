import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openProjectCopy, root } from "../testing/project.ts";
import { choosePlanted, findingIn, findingOf, plant, planted } from "./planted.ts";
import { astrayExitCode } from "./replies.ts";

describe("a planted fault", () => {
  test.each(planted)("$name: its file has the sound text once, and the broken one differs", (fault) => {
    const source = readFileSync(join(root, fault.file), "utf8");
    expect(source.split(fault.sound)).toHaveLength(2);
    expect(fault.broken).not.toBe(fault.sound);
  });

  test("breaks a promise and not the compiler, which all of them pass together", async () => {
    await using copy = await openProjectCopy();
    for (const fault of planted) await plant(copy, fault);
    const files = planted.map(({ file }) => file).filter((file) => file.endsWith(".ts"));
    const config = { extends: "./tsconfig.json", files, include: [] };
    await writeFile(join(copy.folder, "planted.json"), JSON.stringify(config));
    const compile = ["--noEmit", "--project", "planted.json"];
    const { output } = await copy.run("node_modules/typescript/bin/tsc", compile);
    expect(output).toBe("");
  });

  test("of each service is planted before a change lands", () => {
    const [, count, seed] =
      /--prove --count (\d+) --seed (\d+)/.exec(readFileSync(join(root, ".ci/run"), "utf8")) ?? [];
    const chosen = choosePlanted(Number(count), Number(seed));
    const isOfFeatures = chosen.map(({ file }) => file.startsWith("src/features/"));
    expect(new Set(isOfFeatures)).toEqual(new Set([true, false]));
  });

  test("is found when its simulation tells what went astray", () => {
    const errors = "12 messages, 3/s\nsimulate: seed 1, ledger: 3 answers differ\n  answered {}\n";
    expect(findingIn({ code: astrayExitCode, output: "", errors })).toBe(
      "simulate: seed 1, ledger: 3 answers differ",
    );
  });

  test.each([
    [0, "", "found nothing"],
    [1, "simulate: features did not start\n", "exit code 1"],
    [1, "Error: Cannot find module\n    at file.ts\n", "Cannot find module"],
    [2, "simulate: --minutes must be a number above 0\n", "exit code 2"],
    [astrayExitCode, "", `exit code ${astrayExitCode}`],
  ])("is not found when its simulation ends with %j and %j", (code, errors, message) => {
    expect(() => findingIn({ code, output: "", errors })).toThrow(message);
  });

  const fault = {
    name: "a service that does not start",
    file: "src/features/start.ts",
    sound: "import ",
    broken: "",
    simulation: ["--seed", "1", "--minutes", "0.1", "--store", "lmdb"],
  };
  const { signal } = new AbortController();

  test("is not found when its text is in the file twice", async () => {
    await expect(findingOf(fault, signal)).rejects.toThrow("src/features/start.ts does not have this once");
  });

  test("is not found when the service does not even start with it", async () => {
    const crash = {
      ...fault,
      sound: "export async function",
      broken: "throw new Error('planted');\nexport async function",
    };
    await expect(findingOf(crash, signal)).rejects.toThrow("its simulation failed, exit code 1");
  });
});
