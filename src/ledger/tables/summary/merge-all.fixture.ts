import { expect } from "vitest";
import { eventually } from "../../../../testing/eventually.ts";
import type { Sql } from "../../../database/database.ts";
import { countSummaryChanges, mergeSummaryChanges } from "./upkeep.ts";

/**
 * Merges all changes and returns their number. That of the last ones waits for older transactions of other tests in the same
 * server.
 */
export async function mergeAll(sql: Sql): Promise<number> {
  let merged = 0;
  await eventually(async () => {
    merged += await mergeSummaryChanges(sql, 100_000);
    expect(await countSummaryChanges(sql, 1)).toBe(0);
  });
  return merged;
}
