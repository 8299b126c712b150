import type { Database } from "../../database/database.ts";
import { openDatabase } from "../../database/databases.ts";
import type { Access, AccessLog } from "../../http/access/access-log.ts";
import { UsageError } from "../../process/command.ts";
import type { Logger } from "../../process/log.ts";
import { watchOutage } from "../../process/outage.ts";
import { inBatches } from "../../waiting/batches.ts";
import { repeat } from "../../waiting/repeat.ts";
import { insertAccessRecords, keepAccessRecords } from "../tables/access-record.ts";

/** Maximum number of records in a statement. A record has up to 20 kB, and mostly 300 bytes. */
const batchMax = 200;
/** Limit for a record, in milliseconds. Beyond it the response is withheld. */
const recordMaxMs = 5000;
/** The interval of upkeep, in milliseconds: a partition is made a month before it is needed. */
const upkeepEveryMs = 3_600_000;

/**
 * Records accesses in the database. One statement is in flight at a time; the records that arrive meanwhile are in the next
 * one, so that many responses wait for one commit.
 */
export function openRecorder(database: Database, log: Logger): AccessLog {
  const outage = watchOutage(log, "error");
  const record = inBatches<Access, void>(
    async (accesses) => {
      try {
        await insertAccessRecords(database, accesses.map(rowOf));
        outage.succeeded();
        return [];
      } catch (err) {
        outage.failed("accesses cannot be recorded, so responses are withheld", { err });
        throw err;
      }
    },
    {
      requests: batchMax,
      size: batchMax,
      sizeOf: () => 1,
      maxMs: recordMaxMs,
      late: new Error(`an access was not recorded within ${recordMaxMs} ms`),
    },
  );
  return { record };
}

/** A recorder with a connection of its own, for a process without the ledger. */
export async function openRecorderOf(url: string, log: Logger): Promise<AccessLog & AsyncDisposable> {
  const database = await openDatabase(url, (text) => log.warn(text));
  return { ...openRecorder(database, log), [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}

const rowOf = ({ accounts, resourceIds, resourceCount, requestId, ...access }: Access) => ({
  ...access,
  gateway_account_ids: accounts,
  resource_ids: resourceIds,
  resource_count: resourceCount,
  request_id: requestId,
});

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

/** Records what a command is about to change, so that one that is killed has its record, too. */
export const recordCommand = (
  database: Database,
  operation: string,
  ids: string[] | undefined,
  reason: string | undefined,
): Promise<void> =>
  insertAccessRecords(database, [
    {
      ...{ service: "ledger", operation: `command ${operation}`, subject: "command", client: null },
      ...{
        gateway_account_ids: [],
        resource_ids: ids?.slice(0, 20) ?? [],
        resource_count: ids?.length ?? null,
      },
      ...{ status: accepted, request_id: null, reason: reason ?? null },
    },
  ]);
