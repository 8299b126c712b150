import { beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../database/database.ts";
import { newestDeadLetters } from "./dead-letter.ts";
import { ledgerDatabaseOfFile } from "./ledger-database.fixture.ts";

const database = await ledgerDatabaseOfFile();

describe.each([
  { state: "open", condition: "n = 1" },
  { state: "discarded", condition: "n > 1" },
] as const)("a few dead letters before 100,000 others that are not $state", ({ state, condition }) => {
  beforeAll(async () => {
    await database.run("truncate dead_letter restart identity");
    await database.run(`
      insert into dead_letter (source_id, body, reason, discarded_at)
      select 'm' || n, convert_to(repeat('x', 500), 'UTF8'), 'a test', case when ${condition} then null else now() end
      from generate_series(1, 100000) as n`);
  });

  test.each(["without statistics", "with statistics"])("are found by an index %s", async (statistics) => {
    if (statistics === "with statistics") await database.runOutside("analyze dead_letter");
    let statement = "";
    const recording: Pick<Database, "query"> = {
      query: async (text) => {
        statement = text;
        return [];
      },
    };
    await newestDeadLetters(recording as Database, state, 100_001n, 101);
    const plan = await database.query(
      `explain (analyze, buffers, format json) ${statement}`,
      [100_001n, 101],
      "custom",
    );
    const text = JSON.stringify(plan);
    expect(text).toContain(`dead_letter_${state}_idx`);
    expect(text).not.toContain("Seq Scan");
    const rows = await newestDeadLetters(database, state, 100_001n, 101);
    expect(rows.map(({ id }) => id)).toEqual([1n]);
  });
});
