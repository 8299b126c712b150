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

/** What a step has added, and whether a limit has ended it, so that more can wait. */
export interface Sealed {
  count: number;
  isFull: boolean;
}
const nothing: Sealed = { count: 0, isFull: false };

/**
 * Adds entries of what is next in the feed to the log, up to a number, and fewer if events are large. Adds none if another
 * process does.
 */
export const seal = (
  database: Database,
  entryOf: ReturnType<typeof openEntries>,
  max: number,
): Promise<Sealed> =>
  database.transaction(async (sql) => {
    if (!(await tryToLockLog(sql))) return nothing;
    const head = await readHead(sql);
    const size = Number(head.size);
    const added = await addEntries(sql, head, max);
    if (!added) return nothing;
    const { contents, accounts } = added;
    const entries = accounts.map((account, number) =>
      entryOf(size + number, account, contents.subarray(number * hashBytes, (number + 1) * hashBytes)),
    );
    const open = await readTiles(sql, openPlaces(size));
    await saveTiles(sql, appendEntries(size, open, entries));
    await saveHead(sql, added);
    return { count: entries.length, isFull: added.is_full };
  });
