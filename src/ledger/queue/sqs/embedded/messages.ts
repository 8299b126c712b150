import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { isBusy, isFull, openDatabase } from "./database.ts";
import type { Receipt } from "./receipt.ts";
import { prepareStatements, type Statements } from "./statements.ts";

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

/** A message with its history. */
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

const beginPauseMs = 2;
/** The log has this size between two checkpoints, by default 1000 pages. */
const logBytesMin = 5 * 2 ** 20;
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
  const file = { database, statements: prepareStatements(database), now };
  return {
    ...transactionsIn(file),
    ...settingsIn(file),
    ...sendingTo(file),
    ...deliveriesFrom(file),
    ...cleaningOf(file),
    [Symbol.dispose]: () => database.close(),
  };
}

interface File {
  database: DatabaseSync;
  statements: Statements;
  now: () => number;
}

function transactionsIn({ database, statements }: File) {
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

  /**
   * Does the work and makes its changes durable: they are on the disk when this returns. If the work throws, nothing has
   * changed. Throws an error for which `isBusy` is true if another process is writing; it holds the thread for up to
   * `waitMs` milliseconds to let it finish.
   */
  function transaction<Result>(work: () => Result, waitMs = 0): Result {
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
  }

  return {
    transaction,
    /** Makes the write-ahead log as long as it becomes, so that deletes need no space on a disk that is full later. */
    extendLog(): void {
      try {
        transaction(() =>
          database.exec(`
            create table filler (bytes blob);
            insert into filler values (zeroblob(${logBytesMin}));
            drop table filler`),
        );
      } catch (error) {
        if (!isFull(error) && !isBusy(error)) throw error;
      }
    },
  };
}

function settingsIn({ statements }: File) {
  return {
    setting: (name: string) => settingOf(statements, name),
    settings: (): Record<string, string> =>
      Object.fromEntries(statements.settings.all().map(({ name, value }) => [name, value])),
    /** An undefined value removes the setting. */
    set(name: string, value: string | undefined): void {
      if (value === undefined) statements.unset.run(name);
      else statements.set.run(name, value);
    },
  };
}

const settingOf = (statements: Statements, name: string) =>
  statements.setting.get(name)?.value as string | undefined;

/** What was sent at this time or before has expired. */
function expiredAt({ statements, now }: File): number {
  const seconds = settingOf(statements, "MessageRetentionPeriod");
  return seconds === undefined ? -1 : now() - Number(seconds) * 1000;
}

const purgedTo = ({ statements }: File) => Number(settingOf(statements, "purged to") ?? 0);

/** Null for no attributes. */
const jsonOf = (attributes: object = {}) =>
  Object.keys(attributes).length > 0 ? JSON.stringify(attributes) : null;

function sendingTo({ statements, now }: File) {
  function keep(message: KeptMessage): void {
    const { id, body, sentAt, visibleAt, received, firstReceivedAt } = message;
    const attributes = jsonOf(message.attributes);
    const size = Buffer.byteLength(body) + (attributes?.length ?? 0);
    const values = [id, size, sentAt, visibleAt, received, firstReceivedAt];
    const { lastInsertRowid: number } = statements.insertMessage.run(...values);
    statements.insertContent.run(number, body, attributes, jsonOf(message.systemAttributes));
  }

  return {
    keep,
    /** Returns the id of the message. */
    append(message: NewMessage): string {
      const id = randomUUID();
      const sentAt = now();
      const visibleAt = sentAt + (message.delayMs ?? 0);
      keep({ ...message, id, sentAt, visibleAt, received: 0, firstReceivedAt: null });
      return id;
    },
  };
}

interface VisibleRow extends Receipt {
  size: number;
  sentAt: number;
  firstReceivedAt: number | null;
}

function deliveriesFrom(file: File) {
  const { statements, now } = file;
  function deliver({ number, id, sentAt, ...row }: VisibleRow, visibleAt: number): StoredMessage {
    const [received, firstReceivedAt] = [row.received + 1, row.firstReceivedAt ?? now()];
    statements.deliver.run(visibleAt, received, firstReceivedAt, number);
    const content = statements.content.get(number) as Record<string, string | null>;
    const { body, attributes, systemAttributes } = content;
    return {
      ...{ number, id, received, body: body ?? "", sentAt, firstReceivedAt },
      attributes: JSON.parse(attributes ?? "{}"),
      systemAttributes: JSON.parse(systemAttributes ?? "{}"),
    };
  }

  return {
    /** True if a message may be visible. */
    mayReceive: () => statements.anyVisible.get(now()) !== undefined,
    /** Delivers up to `max` visible messages, those first that became visible first, and hides them for this time. */
    receive(max: number, hiddenMs: number): StoredMessage[] {
      const found: unknown[] = statements.visible.all(now(), expiredAt(file), purgedTo(file), max);
      const rows = found as VisibleRow[];
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
      return statements.hide.run(now() + hiddenMs, number, received, id, now()).changes === 1;
    },
    /** Approximate numbers of messages: hidden ones can count as visible a second early. */
    counts() {
      const counts = statements.counts.get(Math.floor(now() / 1000));
      const { messages, inFlight, delayed } = counts as Record<"messages" | "inFlight" | "delayed", number>;
      return { visible: Math.max(0, messages - delayed - inFlight), inFlight, delayed };
    },
  };
}

function cleaningOf(file: File) {
  const { database, statements, now } = file;
  return {
    /** No present message is delivered any more; `clean` removes them. False if those of an earlier purge are left. */
    purge(): boolean {
      if (statements.purged.get(purgedTo(file), 1)) return false;
      const { number } = statements.lastNumber.get() as { number: number | null };
      statements.set.run("purged to", String(number ?? 0));
      return true;
    },
    /** Removes some of the expired and purged messages. True if there may be more. */
    clean(): boolean {
      statements.removeHidden.run(Math.floor(now() / 1000));
      const rows = [
        ...statements.expired.all(expiredAt(file), removedMax),
        ...statements.purged.all(purgedTo(file), removedMax),
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
  };
}
