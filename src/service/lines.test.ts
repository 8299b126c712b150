import { expect, test } from "vitest";
import { linesOf } from "./lines.ts";

test("lines are the same however their bytes are cut into pieces", async () => {
  const lines = ["a", "", "💷 \u2028 é\r", "x".repeat(9), "last"];
  const bytes = Buffer.from(lines.join("\n"));
  for (let size = 1; size <= bytes.length; size++) {
    const pieces = (async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    })();
    expect(await Array.fromAsync(linesOf(pieces))).toEqual(lines);
  }
});
