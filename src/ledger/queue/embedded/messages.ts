import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { folderError } from "../../../process/folder-error.ts";
import type { Receipt } from "./receipt.ts";
import { schema } from "./schema.ts";

/** A typed value of Amazon SQS. A binary value is in base64. */
export interface AttributeValue {
  DataType: string;
  StringValue?: string;
  BinaryValue?: string;
}
export type MessageAttributes = Record<string, AttributeValue>;

export interface NewMessage {
  body: string;
  /** Default: none. */
  attributes?: MessageAttributes | undefined;
  /** System attributes that the sender has set, by name. Default: none. */
  systemAttributes?: Record<string, string> | undefined;
  /** Milliseconds before the first delivery. Default: 0. */
  delayMs?: number | undefined;
}

export interface StoredMessage extends Receipt {
  body: string;
  attributes: MessageAttributes;
  systemAttributes: Record<string, string>;
  /** Both in milliseconds since 1970 (UTC). */
  sentAt: number;
  firstReceivedAt: number;
}

/** A message with its history, from the file of another release. */
export interface KeptMessage extends NewMessage {
  id: string;
  sentAt: number;
  /** It is not delivered before. */
  visibleAt: number;
  received: number;
  firstReceivedAt: number | null;
}

/**
 * The messages of a folder, in one SQLite file, which several processes can have open. Nothing here depends on how many
 * messages wait. Only `transaction` makes changes durable; each other method that changes something must run inside it.
 */
export type Messages = ReturnType<typeof openMessages>;

const version = 1;
/** How long opening waits for other processes. */
export const openMaxMs = 10_000;
/** How long any later statement does; it holds the thread. */
const busyMaxMs = 20;
const beginPauseMs = 2;
/** At most so much memory is used for pages of the file. */
const cacheKib = 8 * 1024;
/** The write-ahead log is cut to this size when it has become longer. */
const logBytesMax = 16 * 2 ** 20;
/** The log has this size between two checkpoints, by default 1000 pages. */
const logBytesMin = 5 * 2 ** 20;
/** Messages to deliver are looked for among so many. The others of them are about to be removed. */
const candidatesMax = 500;
/** Limits of a step of cleaning. */
const removedMax = 500;
const removedBytesMax = 8 * 2 ** 20;
const shrunkPagesMax = 512;
/** Free pages that are kept, since new messages need some. */
const freePagesMin = 2048;
/** Deliveries of one call have at most so many bytes, or are a single one. */
const receivedBytesMax = 4 * 2 ** 20;

export function openMessages(folder: string, now: () => number = Date.now) {
  const database = openDatabase(folder);
  const prepare = (sql: string) => database.prepare(sql);
  const statements = {
    begin: prepare("begin immediate"),
    commit: prepare("commit"),
    rollback: prepare("rollback"),
    insertMessage: prepare(
      "insert into message (id, size, sent_at, visible_at, received, first_received_at) values (?, ?, ?, ?, ?, ?)",
    ),
    insertContent: prepare("insert into content values (?, ?, ?, ?)"),
    firstVisible: prepare("select visible_at from message order by visible_at limit 1"),
    visible: prepare(`
      select number, id, size, sent_at, received, first_received_at from
        (select * from message where visible_at <= ? order by visible_at, number limit ${candidatesMax})
      where sent_at > ? and number > ? limit ?`),
    content: prepare("select body, attributes, system_attributes from content where number = ?"),
    deliver: prepare(
      "update message set visible_at = ?, received = ?, first_received_at = ? where number = ?",
    ),
    remove: prepare("delete from message where number = ? and received = ? and id = ?"),
    find: prepare("select visible_at from message where number = ? and received = ? and id = ?"),
    hide: prepare("update message set visible_at = ? where number = ?"),
    total: prepare("select messages from total"),
    hidden: prepare("select is_received, sum(messages) as messages from hidden where second > ? group by 1"),
    removeHidden: prepare("delete from hidden where second < ?"),
    setting: prepare("select value from setting where name = ?"),
    settings: prepare("select name, value from setting"),
    set: prepare("insert into setting values (?, ?) on conflict do update set value = excluded.value"),
    unset: prepare("delete from setting where name = ?"),
    lastNumber: prepare("select max(number) as number from message"),
    expired: prepare("select number, size from message where sent_at <= ? order by sent_at limit ?"),
    purged: prepare("select number, size from message where number <= ? order by number limit ?"),
    removeNumber: prepare("delete from message where number = ?"),
  };
  const setting = (name: string) => statements.setting.get(name)?.value as string | undefined;
  /** What was sent at this time or before has expired. */
  const expiredAt = () => {
    const seconds = setting("MessageRetentionPeriod");
    return seconds === undefined ? -1 : now() - Number(seconds) * 1000;
  };
  const purgedTo = () => Number(setting("purged to") ?? 0);

  function begin(waitMs: number): void {
    const end = performance.now() + waitMs;
    for (;;) {
      try {
        return void statements.begin.run();
      } catch (error) {
        if (!isBusy(error) || performance.now() > end) throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, beginPauseMs);
      }
    }
  }

  function insert(
    { body, attributes, systemAttributes }: NewMessage,
    state: Omit<KeptMessage, "body">,
  ): void {
    const json = [attributes, systemAttributes].map((value) => (value ? JSON.stringify(value) : null));
    const size = Buffer.byteLength(body) + (json[0]?.length ?? 0);
    const { id, sentAt, visibleAt, received, firstReceivedAt } = state;
    const values = [id, size, sentAt, visibleAt, received, firstReceivedAt];
    const { lastInsertRowid: number } = statements.insertMessage.run(...values);
    statements.insertContent.run(number, body, ...(json as [string | null, string | null]));
  }

  function deliver(row: VisibleRow, visibleAt: number): StoredMessage {
    const { number, id, sent_at, received, first_received_at } = row;
    const firstReceivedAt = first_received_at ?? now();
    statements.deliver.run(visibleAt, received + 1, firstReceivedAt, number);
    const { body, attributes, system_attributes } = statements.content.get(number) as unknown as ContentRow;
    return {
      ...{ number, id, received: received + 1, body, sentAt: sent_at, firstReceivedAt },
      attributes: attributes ? JSON.parse(attributes) : {},
      systemAttributes: system_attributes ? JSON.parse(system_attributes) : {},
    };
  }

  return {
    /**
     * Does the work and makes its changes durable: they are on the disk when this returns. If the work throws, nothing has
     * changed. Throws an error for which `isBusy` is true if another process is writing; it holds the thread for up to
     * `waitMs` milliseconds to let it finish.
     */
    transaction<Result>(work: () => Result, waitMs = 0): Result {
      begin(waitMs);
      try {
        const result = work();
        statements.commit.run();
        return result;
      } catch (error) {
        // Some errors of SQLite have rolled it back.
        if (database.isTransaction) statements.rollback.run();
        throw error;
      }
    },
    /** Returns the id of the message. */
    append(message: NewMessage): string {
      const id = randomUUID();
      const sentAt = now();
      const visibleAt = sentAt + (message.delayMs ?? 0);
      insert(message, { id, sentAt, visibleAt, received: 0, firstReceivedAt: null });
      return id;
    },
    keep: (message: KeptMessage) => insert(message, message),
    /** True if a message may be visible. */
    mayReceive(): boolean {
      const first = statements.firstVisible.get() as { visible_at: number } | undefined;
      return first !== undefined && first.visible_at <= now();
    },
    /** Delivers up to `max` visible messages, those first that became visible first, and hides them for this time. */
    receive(max: number, hiddenMs: number): StoredMessage[] {
      const rows = statements.visible.all(now(), expiredAt(), purgedTo(), max) as unknown as VisibleRow[];
      let bytes = 0;
      const fitting = rows.filter(({ size }, index) => {
        bytes += size;
        return index === 0 || bytes <= receivedBytesMax;
      });
      return fitting.map((row) => deliver(row, now() + hiddenMs));
    },
    /** Removes the message, unless it was delivered again after this delivery. */
    remove({ number, received, id }: Receipt): void {
      statements.remove.run(number, received, id);
    },
    /** Hides a delivered message for this time from now on. False if it is visible, gone, or was delivered again. */
    hide({ number, received, id }: Receipt, hiddenMs: number): boolean {
      const found = statements.find.get(number, received, id) as { visible_at: number } | undefined;
      if (!found || found.visible_at <= now()) return false;
      statements.hide.run(now() + hiddenMs, number);
      return true;
    },
    /** Approximate numbers of messages: hidden ones can count as visible a second early. */
    counts(): { visible: number; inFlight: number; delayed: number } {
      const { messages } = statements.total.get() as { messages: number };
      const hidden = statements.hidden.all(Math.floor(now() / 1000)) as unknown as HiddenRow[];
      const [delayed = 0, inFlight = 0] = [0, 1].map((isReceived) =>
        Math.max(0, hidden.find(({ is_received }) => is_received === isReceived)?.messages ?? 0),
      );
      return { visible: Math.max(0, messages - delayed - inFlight), inFlight, delayed };
    },
    setting,
    settings: () =>
      Object.fromEntries(statements.settings.all().map(({ name, value }) => [name, value])) as Record<
        string,
        string
      >,
    /** An undefined value removes the setting. */
    set(name: string, value: string | undefined): void {
      if (value === undefined) statements.unset.run(name);
      else statements.set.run(name, value);
    },
    /** No present message is delivered any more; `clean` removes them. False if those of an earlier purge are left. */
    purge(): boolean {
      if (statements.purged.get(purgedTo(), 1)) return false;
      const { number } = statements.lastNumber.get() as { number: number | null };
      statements.set.run("purged to", String(number ?? 0));
      return true;
    },
    /** Removes some of the expired and purged messages. True if there may be more. */
    clean(): boolean {
      statements.removeHidden.run(Math.floor(now() / 1000));
      const rows = [
        ...statements.expired.all(expiredAt(), removedMax),
        ...statements.purged.all(purgedTo(), removedMax),
      ] as { number: number; size: number }[];
      let bytes = 0;
      for (const { number, size } of rows) {
        if (bytes > removedBytesMax) return true;
        bytes += size;
        statements.removeNumber.run(number);
      }
      return rows.length >= removedMax;
    },
    /** Gives some free pages of the file back to the system. True if there may be more. */
    shrink(): boolean {
      const { freelist_count: free } = database.prepare("pragma freelist_count").get() as {
        freelist_count: number;
      };
      const excess = Math.min(free - freePagesMin, shrunkPagesMax);
      if (excess > 0) database.exec(`pragma incremental_vacuum(${excess})`);
      if (excess === shrunkPagesMax) return true;
      // The file itself becomes shorter at a checkpoint, which may be far away when nothing is sent.
      if (excess > 0) database.exec("pragma wal_checkpoint(passive)");
      return false;
    },
    /** Makes the write-ahead log as long as it becomes, so that deletes need no space on a disk that is full later. */
    extendLog(): void {
      try {
        database.exec(`
          begin immediate;
          create table filler (bytes blob);
          insert into filler values (zeroblob(${logBytesMin}));
          drop table filler;
          commit`);
      } catch (error) {
        if (database.isTransaction) statements.rollback.run();
        if (!isFull(error) && !isBusy(error)) throw error;
      }
    },
    [Symbol.dispose]: () => database.close(),
  };
}

interface VisibleRow {
  number: number;
  id: string;
  size: number;
  sent_at: number;
  received: number;
  first_received_at: number | null;
}
interface ContentRow {
  body: string;
  attributes: string | null;
  system_attributes: string | null;
}
interface HiddenRow {
  is_received: number;
  messages: number;
}

/** Opens the file of a folder, and makes both if they do not exist. Throws an error with a message for an operator. */
function openDatabase(folder: string): DatabaseSync {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw folderError(folder, error as Error);
  }
  const database = openFile(folder);
  try {
    database.exec(`
      pragma auto_vacuum = incremental;
      pragma journal_mode = wal;
      pragma synchronous = full;
      pragma cache_size = -${cacheKib};
      pragma temp_store = memory;
      pragma journal_size_limit = ${logBytesMax}`);
    createTables(database, folder);
    database.exec(`pragma busy_timeout = ${busyMaxMs}`);
    return database;
  } catch (error) {
    database.close();
    throw isSqliteError(error) ? explain(error, folder) : error;
  }
}

function openFile(folder: string): DatabaseSync {
  try {
    return new DatabaseSync(join(folder, "messages.sqlite"), { timeout: openMaxMs });
  } catch (error) {
    throw explain(error as Error, folder);
  }
}

const versionOf = (database: DatabaseSync) =>
  (database.prepare("pragma user_version").get() as { user_version: number }).user_version;

function createTables(database: DatabaseSync, folder: string): void {
  if (versionOf(database) === 0) {
    database.exec("begin immediate");
    // Another process may have done it meanwhile.
    if (versionOf(database) === 0) database.exec(`${schema}; pragma user_version = ${version}`);
    database.exec("commit");
  }
  if (versionOf(database) <= version) return;
  throw new Error(`the queue in the folder ${folder} was made by a newer release; start the newer release`);
}

type SqliteError = Error & { errcode: number };
const isSqliteError = (error: unknown): error is SqliteError => error instanceof Error && "errcode" in error;
/** Extended codes of SQLite have the primary one in their lowest byte. */
const hasCode = (error: unknown, ...codes: number[]) =>
  isSqliteError(error) && codes.includes(error.errcode & 0xff);

/** True if another process is writing. */
export const isBusy = (error: unknown) => hasCode(error, 5);

/** True if there is no space: a full disk, a quota or a limit of the file size can also be an I/O error. */
export const isFull = (error: unknown) => hasCode(error, 10, 13);

/** An error with a message for an operator. */
export function explain(error: Error, folder: string): Error {
  if (hasCode(error, 13)) return new Error(`the disk of the folder ${folder} is full; free some space`);
  if (hasCode(error, 11, 26)) {
    const advice = "restore a copy of the folder, or move the file away to begin with an empty queue";
    return new Error(`the file ${join(folder, "messages.sqlite")} is damaged or no queue; ${advice}`);
  }
  return folderError(folder, error);
}
