import { isDeepStrictEqual } from "node:util";
import type { Database, Sql } from "../database/database.ts";
import { metadataKeysOf } from "../projection/metadata.ts";
import { PayoutFolds } from "../projection/payout.ts";
import { projectFrom } from "../projection/transaction.ts";
import { eventsInPieces, payoutTypes, transactionTypes } from "../tables/event.ts";
import { type FoldState, foldStateOf } from "../tables/fold-state.ts";
import { type MetadataKeyRow, missingMetadataKeys } from "../tables/metadata-key.ts";
import { payoutsOf } from "../tables/payout.ts";
import { summaryDifferences } from "../tables/summary-upkeep.ts";
import { transactionsOf } from "../tables/transaction.ts";

/** It reads many rows and blocks no other transaction. */
const limits = { statementMs: 3_600_000, idleMs: 60_000 };

/**
 * Compares the rows of these transactions and payouts with their events. Returns a message for each row that differs.
 * Events that arrive meanwhile have no effect.
 */
export const verify = (database: Database, ids: string[]): Promise<string[]> =>
  database.transaction(async (sql) => {
    await sql.run("set transaction isolation level repeatable read, read only");
    const projected = await projectFrom((some) => eventsInPieces(sql, transactionTypes, some), ids);
    const payoutFolds = new PayoutFolds();
    for await (const events of eventsInPieces(sql, payoutTypes, ids)) payoutFolds.add(events);
    const payouts = [...payoutFolds.rows().values()];
    return [
      ...differences("transaction", "external_id", await transactionsOf(sql, ids), projected),
      ...differences("payout", "gateway_payout_id", await payoutsOf(sql, ids), payouts),
      ...(await keyDifferences(sql, metadataKeysOf(projected))),
    ];
  }, limits);

/** Maximum number of messages about summaries: each account has thousands of them. */
const summariesMax = 1000;

/** Compares the summaries with all transactions. Returns a message for each that differs, up to 1000. */
export async function verifySummaries(database: Database): Promise<string[]> {
  const differences = await database.transaction((sql) => summaryDifferences(sql, summariesMax), limits);
  return differences.map(({ key, columns }) => {
    const { all_accounts, gateway_account_id, grain, period, transaction_type, state, live, moto } = key;
    const account = all_accounts ? "all accounts" : `account ${gateway_account_id}`;
    return `summary of ${account}, ${grain} ${period}, ${transaction_type} ${state}, live ${live}, moto ${moto}: ${columns.join(", ")}`;
  });
}

interface AnyRow {
  event_count: number;
  folded: FoldState | null;
}

/** A message for each row without events, each missing row, and each row that differs from its events. */
function differences<Row extends AnyRow>(
  kind: string,
  key: keyof Row & string,
  rows: Row[],
  projected: Row[],
): string[] {
  const byId = (all: Row[]) => new Map(all.map((row) => [row[key] as string, row]));
  const [actual, expected] = [byId(rows), byId(projected)];
  return [...new Set([...actual.keys(), ...expected.keys()])].sort().flatMap((id) => {
    const [row, fold] = [actual.get(id), expected.get(id)];
    if (!fold) return `${kind} ${id}: has a row and no events`;
    if (!row) return `${kind} ${id}: has events and no row`;
    // An older version does not write the state of the fold. The next event adds it.
    const expectedRow = foldStateOf(row) === null ? { ...fold, folded: row.folded } : fold;
    const columns = Object.keys(expectedRow).filter(
      (name) => !isDeepStrictEqual(row[name as keyof Row], expectedRow[name as keyof Row]),
    );
    return columns.length > 0 ? `${kind} ${id}: ${columns.join(", ")}` : [];
  });
}

async function keyDifferences(sql: Sql, expected: MetadataKeyRow[]): Promise<string[]> {
  const missing = await missingMetadataKeys(sql, expected);
  return missing.map(
    ({ gateway_account_id, key }) =>
      `metadata key ${JSON.stringify(key)} of account ${gateway_account_id}: has events and no row`,
  );
}
