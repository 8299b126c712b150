import { isDeepStrictEqual } from "node:util";
import type { Database, Sql } from "../../database/database.ts";
import type { FoldedRow } from "../projection/history.ts";
import { metadataKeysOf } from "../projection/metadata.ts";
import { projectFrom } from "../projection/transaction.ts";
import { eventsInPieces, transactionTypes } from "../tables/event.ts";
import { foldStateOf } from "../tables/fold-state.ts";
import { type MetadataKeyRow, missingMetadataKeys } from "../tables/metadata-key.ts";
import { differingOutlines } from "../tables/search/outline.ts";
import { summaryDifferences } from "../tables/summary/upkeep.ts";
import { transactionTable } from "../tables/transaction.ts";
import { resourceFolds } from "./resource-folds.ts";

/** It reads many rows and blocks no other transaction. */
const limits = { statementMs: 3_600_000, idleMs: 60_000 };

/**
 * Compares the rows of these resources with their events. Returns a message for each row that differs.
 * Events that arrive meanwhile have no effect.
 */
export const verify = (database: Database, ids: string[]): Promise<string[]> =>
  database.transaction(async (sql) => {
    await sql.run("set transaction isolation level repeatable read, read only");
    const projected = await projectFrom((some) => eventsInPieces(sql, transactionTypes, some), ids);
    const actual = await transactionTable.rowsOf(sql, ids);
    const found = differences("transaction", "external_id", actual, projected);
    for (const { type, key, compare } of resourceFolds) {
      const { rows, projected } = await compare(sql, ids);
      found.push(...differences(type.replaceAll("_", " "), key, rows, projected));
    }
    for (const id of await differingOutlines(sql, ids)) {
      found.push(`outline of transaction ${id}: differs from the transaction`);
    }
    return [...found, ...(await keyDifferences(sql, metadataKeysOf(projected)))];
  }, limits);

/** Maximum number of messages about summaries: each account has thousands of them. */
const summariesMax = 1000;

/** Compares the summaries with all transactions. Returns a message for each that differs, up to 1000. */
export async function verifySummaries(database: Database): Promise<string[]> {
  const differences = await database.transaction((sql) => summaryDifferences(sql, summariesMax), limits);
  return differences.map(({ key, columns }) => {
    const { all_accounts, gateway_account_id, grain, period, transaction_type, state, live, moto } = key;
    const version = key.merged_end === null ? "" : ` (version of merge ${key.merged_end})`;
    const account = all_accounts ? "all accounts" : `account ${gateway_account_id}`;
    return `summary of ${account}, ${grain} ${period}, ${transaction_type} ${state}, live ${live}, moto ${moto}${version}: ${columns.join(", ")}`;
  });
}

/** A message for each row without events, each missing row, and each row that differs from its events. */
function differences(name: string, key: string, rows: FoldedRow[], projected: FoldedRow[]): string[] {
  const byId = (all: FoldedRow[]) => new Map(all.map((row) => [row[key as keyof FoldedRow] as string, row]));
  const [actual, expected] = [byId(rows), byId(projected)];
  return [...new Set([...actual.keys(), ...expected.keys()])].sort().flatMap((id) => {
    const [row, fold] = [actual.get(id), expected.get(id)];
    if (!fold) return `${name} ${id}: has a row and no events`;
    if (!row) return `${name} ${id}: has events and no row`;
    // An older version does not write the state of the fold. The next event adds it.
    const expectedRow = foldStateOf(row) === null ? { ...fold, folded: row.folded } : fold;
    const columns = Object.keys(expectedRow).filter(
      (column) => !isDeepStrictEqual(row[column as keyof FoldedRow], expectedRow[column as keyof FoldedRow]),
    );
    return columns.length > 0 ? `${name} ${id}: ${columns.join(", ")}` : [];
  });
}

async function keyDifferences(sql: Sql, expected: MetadataKeyRow[]): Promise<string[]> {
  const missing = await missingMetadataKeys(sql, expected);
  return missing.map(
    ({ gateway_account_id, key }) =>
      `metadata key ${JSON.stringify(key)} of account ${gateway_account_id}: has events and no row`,
  );
}
