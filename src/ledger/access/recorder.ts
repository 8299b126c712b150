import { randomUUID } from "node:crypto";
import type { Database } from "../../database/database.ts";
import { openDatabase } from "../../database/databases.ts";
import type { Access } from "../../http/access/access-log.ts";
import { UsageError } from "../../process/command.ts";
import type { Logger } from "../../process/log.ts";
import { watchOutage } from "../../process/outage.ts";
import { repeat } from "../../waiting/repeat.ts";
import { keepAccessRecords, type NewAccessRecord, saveAccessRecords } from "../tables/access-record.ts";
import { ledgerIdOf } from "../tables/identity.ts";
import { type Journal, openJournal } from "./journal.ts";

/** The size of the journal in bytes at which it is full: about 250,000 accesses. */
const journalBytesMax = 128 * 2 ** 20;
/** Limits for what a statement saves: rows of the journal, and the length of their texts. A record has mostly 400 bytes. */
const [rowsMax, lengthMax] = [256, 2 ** 20];
/** While there is a load, the accesses of this time in milliseconds are appended together. */
const appendDelayMs = 1;
/** The delay in milliseconds until the next look at the journal. */
const lookEveryMs = 100;
/** While responses are sent, saving has 3 % of the time: this many times the duration of a batch passes between two. */
const busyRatio = 32;
/** So many accesses in a millisecond, on average between two looks, are a load. */
const busyPerMs = 0.5;
/** If more of the journal is used, no time passes between two batches. */
const usedPartMax = 1 / 8;
/** The delay in milliseconds until a database that is not available is opened again. */
const openEveryMs = 1000;
/** The interval of upkeep, in milliseconds: a partition is made a month before it is needed. */
const upkeepEveryMs = 3_600_000;

/** An `AccessLog` that saves its records in the database. */
export type Recorder = ReturnType<typeof openRecorder>;

/**
 * Records accesses in a journal in a folder, those of one turn of the event loop together, and rejects them until `open` is
 * called. From then on they are moved into the database of a ledger, until that is disposed, which moves what is left.
 */
export function openRecorder(folder: string, log: Logger, bytesMax = journalBytesMax) {
  let journal: Journal | undefined;
  const outage = watchOutage(log, "error");
  const session = randomUUID();
  let pending: { access: Access; done: (error?: unknown) => void }[] = [];
  /** The number of accesses since the last look. */
  let count = 0;
  let lookedAt = performance.now();
  let isBusy = false;

  function append(): void {
    const batch = pending;
    pending = [];
    const accessed_at = new Date().toISOString();
    const records = batch.map(({ access }): NewAccessRecord => ({ ...access, accessed_at }));
    let failure: unknown;
    try {
      if (!journal) throw new Error("the database of the records is not open yet");
      journal.append(session, JSON.stringify(records));
      count += batch.length;
      outage.succeeded();
    } catch (err) {
      failure = err;
      outage.failed("accesses cannot be recorded, so responses are withheld", { err });
    }
    for (const { done } of batch) done(failure);
  }

  return {
    record(access: Access, done: (error?: unknown) => void): void {
      if (pending.length === 0) isBusy ? setTimeout(append, appendDelayMs) : setImmediate(append);
      pending.push({ access, done });
    },
    /** True while so many accesses are recorded that other work must be brief. */
    isBusy: () => isBusy,
    async open(database: Database): Promise<AsyncDisposable> {
      const opened = openJournal(folder, await ledgerIdOf(database), bytesMax, (text) => log.warn(text));
      journal = opened;
      const saving = startSaving(opened, database, log, () => {
        const now = performance.now();
        isBusy = count > (now - lookedAt) * busyPerMs;
        lookedAt = now;
        count = 0;
        return isBusy;
      });
      return {
        async [Symbol.asyncDispose]() {
          await saving[Symbol.asyncDispose]();
          journal = undefined;
          opened[Symbol.dispose]();
        },
      };
    },
  };
}

function startSaving(journal: Journal, database: Database, log: Logger, look: () => boolean) {
  const outage = watchOutage(log, "error");
  let pauseUntil = 0;

  async function saveBatch(): Promise<number> {
    const rows = journal.first(rowsMax, lengthMax);
    const last = rows.at(-1);
    if (!last) return 0;
    await saveAccessRecords(database, rows);
    journal.remove(last.number);
    return rows.length;
  }

  async function step(): Promise<number> {
    const startedAt = performance.now();
    try {
      const isPaused = look() && startedAt < pauseUntil && journal.usedPart() < usedPartMax;
      if (isPaused) return lookEveryMs;
      const saved = await saveBatch();
      outage.succeeded();
      const endedAt = performance.now();
      pauseUntil = endedAt + (endedAt - startedAt) * busyRatio;
      return saved > 1 ? 0 : lookEveryMs;
    } catch (err) {
      outage.failed("the records of accesses wait for the database", { err });
      return lookEveryMs;
    }
  }
  const saving = repeat(step);
  return {
    async [Symbol.asyncDispose]() {
      await saving[Symbol.asyncDispose]();
      try {
        while ((await saveBatch()) > 0);
      } catch (err) {
        log.error({ err }, "records of accesses are left in the journal; the next start saves them");
      }
    },
  };
}

/** Opens a recorder with a database of its own, as soon as that is available, for a process without the ledger. */
export function openWhenAvailable(recorder: Recorder, url: string, log: Logger): AsyncDisposable {
  const outage = watchOutage(log, "error");
  let opened: AsyncDisposableStack | undefined;
  const opening = repeat(
    async () => {
      if (opened) return upkeepEveryMs;
      try {
        await using attempt = new AsyncDisposableStack();
        const database = attempt.use(await openDatabase(url, (text) => log.warn(text)));
        attempt.use(await recorder.open(database));
        opened = attempt.move();
        outage.succeeded();
      } catch (err) {
        outage.failed("the database for records of accesses cannot be opened, so changes are withheld", {
          err,
        });
      }
      return openEveryMs;
    },
    { keepsProcess: false },
  );
  return {
    async [Symbol.asyncDispose]() {
      await opening[Symbol.asyncDispose]();
      await opened?.[Symbol.asyncDispose]();
    },
  };
}

/** Keeps the records for an interval of the database, and makes room for new ones, until it is disposed. */
export function startKeepingRecords(database: Database, keep: string, log: Logger) {
  const outage = watchOutage(log);
  return repeat(
    async () => {
      try {
        await keepAccessRecords(database, keep);
        outage.succeeded();
      } catch (err) {
        outage.failed("old records of accesses could not be removed", { err });
      }
      return upkeepEveryMs;
    },
    { keepsProcess: false },
  );
}

/** Its outcome is not known yet. */
const accepted = 202;

/** Why an operator runs a command. */
export function readReason(given: string | undefined): string | undefined {
  const reason = given?.trim();
  if (reason === undefined || /^[ -~]{1,200}$/.test(reason)) return reason;
  throw new UsageError("--reason must have 1 to 200 characters of ASCII");
}

/** Records what a command is about to do, so that one that is killed has its record, too. */
export function recordCommand(
  database: Database,
  operation: string,
  ids: string[] | undefined,
  reason: string | undefined,
  account: string | null = null,
): Promise<unknown> {
  const record: NewAccessRecord = {
    service: "ledger",
    operation: `command ${operation}`,
    subject: "command",
    client: null,
    gateway_account_ids: account === null ? [] : [account],
    resource_ids: ids?.slice(0, 20) ?? [],
    resource_count: ids?.length ?? null,
    status: accepted,
    request_id: null,
    reason: reason ?? null,
    accessed_at: new Date().toISOString(),
  };
  return saveAccessRecords(database, [{ session: randomUUID(), number: 1, text: JSON.stringify([record]) }]);
}
