import fc from "fast-check";
import { expect, test } from "vitest";
import { readWithin } from "./page.ts";

interface Row {
  size: number;
  is_whole: boolean;
}

test("a page has the rows that fit, as a whole, in at most two reads of few bytes", async () => {
  const sizes = fc.array(fc.oneof(fc.nat(20), fc.nat(2000)), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(
      sizes,
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 3000 }),
      async (...given) => {
        const [all, countMax, bytesMax] = given;
        const reads: number[] = [];
        const page = await readWithin({ countMax, bytesMax }, async (max, rowBytesMax) => {
          const rows = all.slice(0, max).map((size): Row => ({ size, is_whole: size <= rowBytesMax }));
          reads.push(rows.reduce((sum, row) => sum + (row.is_whole ? row.size : 0), 0));
          return rows;
        });
        const fitting = all
          .slice(0, countMax)
          .filter((_, index) => all.slice(0, index).reduce((sum, size) => sum + size, 0) < bytesMax);
        expect(page.rows).toEqual(fitting.map((size) => ({ size, is_whole: true })));
        expect(page.isLast).toBe(fitting.length === all.length);
        expect(reads.length).toBeLessThanOrEqual(2);
        // One row more than fits, and one more that shows whether the page is the last one.
        expect(Math.max(...reads)).toBeLessThanOrEqual(bytesMax + 2 * Math.max(0, ...all));
      },
    ),
  );
});
