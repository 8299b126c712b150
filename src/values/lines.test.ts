import { expect, test } from "vitest";
import { linesOf } from "./lines.ts";

/** The bytes in chunks of this size. */
async function* inChunksOf(bytes: Buffer, size: number) {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

test("lines do not depend on how their bytes are split into chunks", async () => {
  const lines = ["a", "", "💷 \u2028 é\r", "x".repeat(9), "\uFEFFb", "last"];
  const bytes = Buffer.from(lines.join("\n"));
  for (let size = 1; size <= bytes.length; size++) {
    expect(await Array.fromAsync(linesOf(inChunksOf(bytes, size)))).toEqual(lines);
  }
});

test("a byte order mark at the start is not part of the first line", async () => {
  expect(await Array.fromAsync(linesOf(inChunksOf(Buffer.from("\uFEFFa\nb\n"), 2)))).toEqual(["a", "b"]);
});

test("rejects with the number of the line that is not UTF-8, after the lines before it", async () => {
  for (const invalid of [[0xff], [0xc3], [0xed, 0xa0, 0x80]]) {
    for (const rest of ["\nlast\n", ""]) {
      const bytes = Buffer.concat([Buffer.from("a\nb\n"), Buffer.from(invalid), Buffer.from(rest)]);
      const seen: string[] = [];
      const reading = (async () => {
        for await (const line of linesOf(inChunksOf(bytes, 3))) seen.push(line);
      })();
      await expect(reading).rejects.toThrow("line 3 is not valid UTF-8");
      expect(seen).toEqual(["a", "b"]);
    }
  }
});
