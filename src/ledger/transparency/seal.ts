import type { Database } from "../../database/database.ts";
import {
  addEntries,
  readHead,
  readTiles,
  saveHead,
  saveTiles,
  tryToLockLog,
} from "../tables/transparency.ts";
import type { openEntries } from "./entry.ts";
import { hashBytes } from "./merkle.ts";
import { appendEntries, openPlaces } from "./tiles.ts";

/** The number of entries that one SQL transaction adds. The embedded engine does nothing else meanwhile. */
export const stepMax = 1024;

/**
 * Adds entries of what is next in the feed to the log, up to a number, and returns how many. None if another
 * process does.
 */
export const seal = (
  database: Database,
  entryOf: ReturnType<typeof openEntries>,
  max: number,
): Promise<number> =>
  database.transaction(async (sql) => {
    if (!(await tryToLockLog(sql))) return 0;
    const head = await readHead(sql);
    const size = Number(head.size);
    const added = await addEntries(sql, head, max);
    if (!added) return 0;
    const { contents, accounts } = added;
    const entries = accounts.map((account, number) =>
      entryOf(size + number, account, contents.subarray(number * hashBytes, (number + 1) * hashBytes)),
    );
    const open = await readTiles(sql, openPlaces(size));
    await saveTiles(sql, appendEntries(size, open, entries));
    await saveHead(sql, added);
    return entries.length;
  });
