import { expect, test } from "vitest";
import { linesOf } from "./lines.ts";

/** The bytes in pieces of this size. */
async function* inPieces(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test("lines are the same however their bytes are cut into pieces", async () => {
  const lines = ["a", "", "💷 \u2028 é\r", "x".repeat(9), "\uFEFFb", "last"];
  const bytes = Buffer.from(lines.join("\n"));
  for (let size = 1; size <= bytes.length; size++) {
    expect(await Array.fromAsync(linesOf(inPieces(bytes, size)))).toEqual(lines);
  }
});

test("a byte order mark at the beginning is not a part of the first line", async () => {
  expect(await Array.fromAsync(linesOf(inPieces(Buffer.from("\uFEFFa\nb\n"), 2)))).toEqual(["a", "b"]);
});

test("a line that is no UTF-8 is named, behind those before it", async () => {
  for (const odd of [[0xff], [0xc3], [0xed, 0xa0, 0x80]]) {
    for (const behind of ["\nlast\n", ""]) {
      const bytes = Buffer.concat([Buffer.from("a\nb\n"), Buffer.from(odd), Buffer.from(behind)]);
      const seen: string[] = [];
      const reading = (async () => {
        for await (const line of linesOf(inPieces(bytes, 3))) seen.push(line);
      })();
      await expect(reading).rejects.toThrow("line 3 is not valid UTF-8");
      expect(seen).toEqual(["a", "b"]);
    }
  }
});
