import type { Sql } from "../../../database/database.ts";
import type { Bind } from "../conditions.ts";
import type { MetadataKeyRow } from "../metadata-key.ts";
import { type PayoutRow, payoutTable } from "../payout.ts";
import { rowsAsJson } from "../save-statement.ts";
import { sumColumns } from "../summary/rows.ts";
import { type TransactionRow, transactionTable } from "../transaction.ts";
import { endOf, isKnown, isKnownEvent, type KnownPosition } from "./position.ts";

/** The tables that statements find instead of others: a query for each name. */
export type Tables = Record<string, string | ((bind: Bind) => string)>;

/**
 * Runs statements that find these tables instead of those with the same names: each that a statement names is a common table
 * expression of it, which the planner opens. So the statements of the present also read the past.
 */
export const withTables = (sql: Sql, tables: Tables): Sql => ({
  run: (script) => sql.run(script),
  query(text, given = []) {
    const values = [...given];
    const bind: Bind = (value) => `$${values.push(value)}`;
    const named = new Set(text.match(/\w+/g));
    const expressions = Object.entries(tables).flatMap(([name, query]) =>
      named.has(name)
        ? `${name} as not materialized (${typeof query === "string" ? query : query(bind)})`
        : [],
    );
    const first = expressions.length > 0 ? `with ${expressions}` : "";
    return sql.query(`${first} select * from (${text}) as statement`, values, "custom");
  },
});

/** The events that the ledger knew. */
export const knownEvents = (position: KnownPosition): Tables => ({
  event: `select * from event where ${isKnownEvent("event.id", position)}`,
});

const numbers = ["count", ...sumColumns];
const partColumns = ["gateway_account_id", "transaction_type", "state", "live", "moto"];

/** A summary as it was after a merge: as it is if no later merge has changed it, else its version. */
const summaryThen = (table: string, columns: string[], mergedEnd: bigint) => `
  select ${columns.map((name) => `summary.${name}`)}, ${numbers.map((name) => `known.${name}`)}
  from ${table} as summary cross join lateral (
    select ${numbers.map((name) => `summary.${name}`)} where summary.merged_end <= ${mergedEnd}
    union all
    select * from (
      select ${numbers} from transaction_summary_version as version
      where summary.merged_end > ${mergedEnd} and version.summary_id = summary.id and version.merged_end <= ${mergedEnd}
      order by version.merged_end desc limit 1
    ) as version
  ) as known`;

/**
 * What the events of one SQL transaction have changed up to one of them: the transactions before the first event and after
 * that one, and the payouts and metadata keys after it. Other payouts have not changed.
 */
export interface Within {
  /** The transactions that the SQL transaction has changed. */
  ids: string[];
  before: TransactionRow[];
  after: TransactionRow[];
  payoutIds: string[];
  payouts: PayoutRow[];
  metadataKeys: MetadataKeyRow[];
}

/** The summaries that the ledger knew, and the changes that no merge before the position had added to them. */
export function knownSummaries(position: KnownPosition, mergedEnd: bigint, within?: Within): Tables {
  const columns = ["hour", ...partColumns];
  const changes = `
    select utc_day(hour) as day, ${[...columns, "count::bigint", ...sumColumns]} from transaction_difference
    where sql_transaction >= ${mergedEnd} and sql_transaction < ${endOf(position)} and ${isKnown("sql_transaction", position)}`;
  const changesOf = (rows: TransactionRow[], sign: number, bind: Bind) => `
    select utc_day(created_date), utc_hour(created_date),
      ${[...partColumns, sign, ...sumColumns.map((name) => `${sign} * ${name}`)]}
    from ${recordset("transaction", rows, bind)} cross join lateral summarised_details(details)`;
  return {
    transaction_summary: summaryThen(
      "transaction_summary",
      ["all_accounts", "grain", "period", ...partColumns],
      mergedEnd,
    ),
    transaction_hour_summary: summaryThen(
      "transaction_hour_summary",
      ["all_accounts", "hour", ...partColumns],
      mergedEnd,
    ),
    transaction_summary_change: (bind) =>
      within
        ? [changes, changesOf(within.before, -1, bind), changesOf(within.after, 1, bind)].join(" union all ")
        : changes,
  };
}

/** The payouts and the metadata keys that the ledger knew. */
export function knownOthers(position: KnownPosition, within?: Within): Tables {
  const known = isKnown("known_since", position);
  const { columns } = payoutTable;
  return {
    payout: (bind) => {
      const isOther = within ? `gateway_payout_id <> all(${bind(within.payoutIds)}::text[])` : "true";
      const isCurrent = `${known} and ${isOther}`;
      return inParts(columns, [
        ["payout", isCurrent, ", known_since, null::bigint as replaced_in"],
        [
          "payout_version",
          `${isCurrent} and not ${isKnown("replaced_in", position)}`,
          ", known_since, replaced_in",
        ],
        [recordset("payout", within?.payouts ?? [], bind), "true", ", null, null"],
      ]);
    },
    metadata_key: (bind) =>
      `select gateway_account_id, key from metadata_key where ${known}
       ${within ? `union select gateway_account_id, key from ${recordset("metadata_key", within.metadataKeys, bind)}` : ""}`,
  };
}

/** Where the rows of a part are, their condition, and columns that only the condition uses. */
type Part = [from: string, condition: string, ownColumns?: string];

/**
 * The rows of all parts, each with its condition. The planner merges the parts in the order of an index only if they have no
 * conditions of their own.
 */
function inParts(columns: string, parts: Part[]): string {
  const selected = parts.map(
    ([from, , ownColumns = ""], part) => `select ${columns}${ownColumns}, ${part} as part from ${from}`,
  );
  const conditions = parts.map(([, condition], part) => `part = ${part} and (${condition})`);
  return `select ${columns} from (${selected.join(" union all ")}) as known where ${conditions.join(" or ")}`;
}

/** Rows of a table as a `from` item. */
const recordset = (table: string, rows: object[], bind: Bind) =>
  `jsonb_populate_recordset(null::${table}, ${bind(rowsAsJson(rows))}::jsonb)`;

const outlineColumns = [
  "external_id",
  "gateway_account_id",
  "transaction_type",
  "state",
  "created_date",
  "first_event_id",
];

/**
 * The transactions that the ledger knew, created before an instant. Those that have changed since are given: their ids, and
 * the rows of those that existed.
 */
export function knownTransactions(
  position: KnownPosition,
  changedIds: string[],
  rows: TransactionRow[],
  createdBefore = "infinity",
): Tables {
  const tableOf = (table: string, columns: string) => (bind: Bind) =>
    inParts(columns, [
      [
        table,
        `external_id <> all(${bind(changedIds)}::text[]) and created_date < ${bind(createdBefore)}
          and ${isKnownEvent("first_event_id", position)}`,
      ],
      [recordset("transaction", rows, bind), "true"],
    ]);
  return {
    transaction: tableOf("transaction", `${transactionTable.columns}, size`),
    transaction_outline: tableOf("transaction_outline", String(outlineColumns)),
  };
}
