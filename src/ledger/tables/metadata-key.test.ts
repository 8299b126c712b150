import { expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { openLedgerDatabase } from "./ledger-database.fixture.ts";
import { metadataKeysOf, saveMetadataKeys } from "./metadata-key.ts";

const row = (gateway_account_id: string, key: string) => ({ gateway_account_id, key });

test.runIf(process.env.TEST_DATABASE === "postgres").each([
  ["keys of one account", row("57", "colour"), row("57", "size")],
  ["accounts", row("57", "size"), row("58", "colour")],
])(
  "two transactions that save the same %s in opposite orders do not deadlock",
  async (_name, first, last) => {
    await using database = await openLedgerDatabase();
    const { other } = await database.transaction(async (sql) => {
      await saveMetadataKeys(sql, [first]);
      const other = database.transaction((sql) => saveMetadataKeys(sql, [last, first]));
      await eventually(async () =>
        expect(
          await database.query(
            "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
          ),
        ).toHaveLength(1),
      );
      // The other transaction waits for the first row and has not locked the last one yet.
      await saveMetadataKeys(sql, [last]);
      return { other };
    });
    await other;
    expect(await metadataKeysOf(database, ["57", "58"], 10)).toEqual(["colour", "size"]);
  },
);
