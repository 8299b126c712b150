import type { ChangeRecord, FeatureCalls } from "../change-stream.ts";
import { applyChange, type Entries, emptyEntries, expiryOf, setEntry } from "./entries.ts";

/** Number of entries and of records on a page. */
const pageSize = 1000;

/** The entries of some kinds, as they were after a record of the change feed. */
export interface Copy {
  entries: Entries;
  /** The cursor of that record. */
  cursor: string;
  /** When the copy was last known to be current, on the clock of `performance.now()`. */
  currentAt: number;
  /** Records since the file of the copy has begun to be written; undefined if it is not being written. */
  recorded?: ChangeRecord[] | undefined;
}

type Calls = FeatureCalls["calls"];

/**
 * Copies kinds from the service: all entries, then the changes since the first page. Before these changes an entry may be
 * newer than its neighbours and would go back in time, so nobody may read it earlier.
 */
export async function copyKinds(calls: Calls, kinds: string[], signal: AbortSignal): Promise<Copy> {
  const { next_cursor: newest } = await calls.listChanges({ cursor: "newest" }, { signal });
  const copy: Copy = { entries: emptyEntries(kinds), cursor: newest, currentAt: performance.now() };
  for (const resource of kinds) {
    let cursor: string | undefined;
    do {
      const page = await calls.listEntries({ resource, limit: pageSize, cursor }, { signal });
      for (const entry of page.entries) setEntry(copy.entries, entry, expiryOf(entry.expires_at));
      cursor = page.next_cursor;
    } while (cursor !== undefined);
  }
  await catchUp(calls, copy, signal, () => {});
  return copy;
}

/** Makes all changes after the cursor of a copy, page by page. Rejects with a 410 if some have been deleted. */
export async function catchUp(
  calls: Calls,
  copy: Copy,
  signal: AbortSignal,
  onChange: (feature: string) => void,
): Promise<void> {
  for (;;) {
    // The page is at least as new as its request.
    const requestedAt = performance.now();
    const { changes } = await calls.listChanges({ cursor: copy.cursor, limit: pageSize }, { signal });
    applyChanges(copy, changes, onChange);
    if (changes.length < pageSize) {
      copy.currentAt = requestedAt;
      return;
    }
  }
}

/** Makes the changes of records that follow the cursor of a copy. A repetition changes nothing. */
export function applyChanges(copy: Copy, records: ChangeRecord[], onChange: (feature: string) => void): void {
  for (const record of records) {
    copy.cursor = record.cursor;
    if (!applyChange(copy.entries, record)) continue;
    copy.recorded?.push(record);
    onChange(record.feature);
  }
}
