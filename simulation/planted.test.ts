import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openProjectCopy } from "../testing/project.ts";
import { findDefect, plant, plantedDefects, violationIn } from "./planted.ts";
import { violationExitCode } from "./violation.ts";

describe("a planted defect", () => {
  test("has its place in the code, once, and compiles, together with all others", async () => {
    await using copy = await openProjectCopy();
    for (const defect of plantedDefects) await plant(copy, defect);
    const files = plantedDefects.map(({ file }) => file).filter((file) => file.endsWith(".ts"));
    const config = { extends: "./tsconfig.json", files, include: [] };
    await writeFile(join(copy.folder, "planted.json"), JSON.stringify(config));
    const compile = ["--noEmit", "--project", "planted.json"];
    const { output } = await copy.run("node_modules/typescript/bin/tsc", compile);
    expect(output).toBe("");
  });

  test("is found if its simulation prints a violation", () => {
    const errors = "12 messages, 3/s\nsimulate: seed 1, ledger: 3 responses differ\n  actual: {}\n";
    expect(violationIn({ code: violationExitCode, output: "", errors })).toBe(
      "simulate: seed 1, ledger: 3 responses differ",
    );
  });

  test.each([
    [0, "", "found no violation"],
    [1, "simulate: features did not start\n", "exit code 1"],
    [1, "Error: Cannot find module\n    at file.ts\n", "Cannot find module"],
    [2, "simulate: --minutes must be a number greater than 0\n", "exit code 2"],
    [violationExitCode, "", `exit code ${violationExitCode}`],
  ])("is not found if its simulation ends with exit code %j and prints %j", (code, errors, message) => {
    expect(() => violationIn({ code, output: "", errors })).toThrow(message);
  });

  const defect = {
    name: "a service that does not start",
    file: "src/features/start.ts",
    original: "import ",
    defective: "",
    simulation: ["--store", "lmdb"],
  };
  const { signal } = new AbortController();

  test("is not found if its text is in the file twice", async () => {
    await expect(findDefect(defect, 1, signal)).rejects.toThrow(
      "src/features/start.ts does not have this text exactly once",
    );
  });

  test("is not found if the service does not start with it", async () => {
    const crash = {
      ...defect,
      original: "export async function",
      defective: "throw new Error('planted');\nexport async function",
    };
    await expect(findDefect(crash, 1, signal)).rejects.toThrow("its simulation failed with exit code 1");
  });
});
