import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../scripts/project.ts";
import { planted } from "./planted.ts";

test.each(planted)("$name: what is sound is in $file once, and what is broken differs", (fault) => {
  const source = readFileSync(join(root, fault.file), "utf8");
  expect(source.split(fault.sound)).toHaveLength(2);
  expect(fault.broken).not.toBe(fault.sound);
});
