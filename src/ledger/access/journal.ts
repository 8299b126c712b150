import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Warn } from "../../engines/adapter.ts";
import { folderError } from "../../process/folder-error.ts";
import { makePrivateFolder } from "../../process/private-folder.ts";
import type { SessionRecords } from "../tables/access-record.ts";

const names = /^accesses-[\w-]+\.sqlite(-(wal|shm|journal))?$/;
/** How long opening waits for other processes, in milliseconds. */
const openMaxMs = 10_000;
/** How long any later statement does. It holds the thread. */
const busyMaxMs = 500;
const pageBytes = 4096;
/** The write-ahead log is cut to this size when it has become longer. */
const logBytesMax = 16 * 2 ** 20;

/**
 * The file in which accesses wait until the database of a ledger has them. The processes of this ledger on a machine share it:
 * what one that was killed has appended, another one takes. A row that was appended outlives the process; if the power fails,
 * the rows of the last seconds can be lost.
 */
export type Journal = ReturnType<typeof openJournal>;

/** Opens the journal of a ledger in a folder, which is made. It has at most this many bytes. */
export function openJournal(folder: string, ledgerId: string, bytesMax: number, warn: Warn) {
  const fileName = `accesses-${ledgerId}.sqlite`;
  const pagesMax = Math.ceil(bytesMax / pageBytes);
  let file: DatabaseSync;
  try {
    makePrivateFolder(folder, { names: [names], files: [fileName] }, warn);
    file = new DatabaseSync(join(folder, fileName), { timeout: openMaxMs });
    file.exec(`
      pragma journal_mode = wal;
      pragma synchronous = normal;
      pragma journal_size_limit = ${logBytesMax};
      pragma max_page_count = ${pagesMax};
      create table if not exists access (number integer primary key autoincrement, session text not null, text text not null) strict;
      pragma busy_timeout = ${busyMaxMs}`);
  } catch (error) {
    throw folderError(folder, error as Error);
  }
  const insert = file.prepare("insert into access (session, text) values (?, ?)");
  const select = file.prepare(`
    select number, session, text from (
      select *, sum(length(text)) over (order by number) - length(text) as length_before
      from (select * from access order by number limit ?)
    ) where length_before < ? order by number`);
  const pages = file.prepare(
    "select page_count - freelist_count as used from pragma_page_count, pragma_freelist_count",
  );
  const remove = file.prepare("delete from access where number <= ?");
  return {
    /** Appends a row. Throws if the disk or the journal is full. */
    append: (session: string, text: string): void => void insert.run(session, text),
    /** The oldest rows, up to a number, and until their texts have a length. */
    first: (max: number, lengthMax: number) => select.all(max, lengthMax) as unknown as SessionRecords[],
    /** The part that is used, from 0 to 1. */
    usedPart: (): number => (pages.get() as { used: number }).used / pagesMax,
    /** Removes the rows up to a number. */
    remove: (last: number): void => void remove.run(last),
    [Symbol.dispose]: () => file.close(),
  };
}
