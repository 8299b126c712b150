import { type Sql, StatementTimeout } from "../../database/database.ts";
import { letOthersRun } from "../../waiting/turns.ts";
import { metadataKeysOf } from "../projection/metadata.ts";
import { payoutProjection } from "../projection/payout.ts";
import { projectFrom } from "../projection/transaction.ts";
import { childIdsAsOf, transactionTypes } from "../tables/event.ts";
import {
  type CreatedIn,
  changedIn,
  changedOfPayouts,
  changedSince,
  lastMidnight,
} from "../tables/known/changed.ts";
import type { KnownPosition, KnownState } from "../tables/known/position.ts";
import {
  knownEvents,
  knownOthers,
  knownSummaries,
  knownTransactions,
  notingArrived,
  type Within,
  withTables,
} from "../tables/known/view.ts";
import { end } from "../tables/summary/periods.ts";
import type { TransactionRow } from "../tables/transaction.ts";
import { foldPast, type Past, pastAsOf, pastEvents } from "./past.ts";

/** Maximum number of transactions that are folded again for a search. */
export const changedMax = 1000;
/** Those that are folded at once. */
const foldedMax = 100;

/** More transactions have changed since a position than a search may fold again. */
export class TooManyChanged extends Error {}

/**
 * Which transactions statements read: those with these ids, those created in the intervals, a transaction and its children, or
 * those that these payouts settle.
 */
export type Wanted =
  | (CreatedIn & { ids?: string[] })
  | { ids: string[] }
  | { familyOf: string }
  | { settledBy: string[] };

/** What the ledger knew at a position, read on `sql`. Folding takes as long as the limit at most, in milliseconds. */
export interface Known {
  sql: Sql;
  position: KnownPosition;
  state: KnownState;
  limitMs: number;
}

/** How often a statement is repeated, since other transactions have changed meanwhile. */
const attemptsMax = 10;

/**
 * Statements that find what the ledger knew: events, summaries, payouts and metadata keys, and of the transactions those that
 * are wanted; others can be missing, or as they are now. `choose` can read everything but transactions, then and now. A
 * transaction that has changed since is folded again from the events that were known. Throws `TooManyChanged`.
 */
export async function knownLedger(known: Known, choose: Choose = { ids: [] }): Promise<Sql> {
  const { sql, position, state } = known;
  const past = pastAsOf(withTables(sql, knownEvents(position)), end, known.limitMs);
  const within = state.is_within ? await changesWithin(known, past) : undefined;
  const summaries = knownSummaries(position, state.merged_end, within);
  const tables = { ...knownEvents(position), ...summaries, ...knownOthers(position, within) };
  const find = () => findChanged(known, withTables(sql, tables), choose);
  const open = async (changed: Changed) => {
    // The changes of an SQL transaction as a whole do not show which transactions its first events had changed.
    const ids = [...new Set([...changed.ids, ...(within?.ids ?? [])])];
    const transactions = knownTransactions(position, ids, await rowsOf(past, ids), changed.last);
    return { changed, tables: { ...tables, ...transactions } };
  };
  let current = await open(await find());
  return {
    run: (script) => sql.run(script),
    async query<Row>(text: string, values?: unknown[]) {
      for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
        // Another statement can replace the current ones meanwhile.
        const used = current;
        if (used.changed.arrived.size === 0) return withTables(sql, used.tables).query<Row>(text, values);
        const arrived = new Set(used.changed.arrived);
        const rows = await withTables(notingArrived(sql, arrived), used.tables).query<Row>(text, values);
        if (arrived.size === 1) return rows;
        // Something was stored meanwhile. The statement may have found a transaction that it changed.
        const changed = await find();
        const ids = new Set(used.changed.ids);
        if (changed.ids.every((id) => ids.has(id))) return rows;
        current = await open(changed);
      }
      throw new StatementTimeout(known.limitMs);
    },
  };
}

type Choose = Wanted | ((base: Sql, now: Sql) => Promise<Wanted>);

/** The transactions that are folded again. */
interface Changed {
  ids: string[];
  /** None of the others was created at this instant or later. */
  last: string;
  /** The events that had arrived when they were found. Empty if the request names them. */
  arrived: Set<string>;
}

async function findChanged(known: Known, base: Sql, choose: Choose): Promise<Changed> {
  const arrived = new Set<string>();
  const now = notingArrived(known.sql, arrived);
  const wanted = typeof choose === "function" ? await choose(base, now) : choose;
  const isByDate = "created" in wanted && wanted.created.length > 0;
  const last = isByDate ? await lastMidnight(base, wanted.accounts) : end;
  const there = { ...known, sql: now };
  const ids =
    "familyOf" in wanted ? await familyOf(now, wanted.familyOf) : await changedIds(there, wanted, last);
  return { ids, last, arrived };
}

/** Also the children of later events: they are children now, and were none then. */
const familyOf = async (sql: Sql, id: string) => [id, ...(await childIdsAsOf(sql, id, end))];

/** The ids of those that have changed since, and of those that are given. None was created at `last` or later. */
async function changedIds(
  { sql, position, state }: Known,
  wanted: Exclude<Wanted, { familyOf: string }>,
  last: string,
): Promise<string[]> {
  if ("settledBy" in wanted) return few(await changedOfPayouts(sql, position, wanted.settledBy, changedMax));
  const { ids = [] } = wanted;
  if (!("created" in wanted)) return ids;
  const intervals = wanted.created.map(({ from, to }) => ({ from, to: to < last ? to : last }));
  const created = intervals.filter(({ from, to }) => from < to);
  if (created.length === 0) return ids;
  const since = { position, mergedEnd: state.merged_end, accounts: wanted.accounts, created };
  return [...ids, ...few(await changedSince(sql, since, changedMax))];
}

function few(ids: string[] | undefined): string[] {
  if (!ids) throw new TooManyChanged();
  return ids;
}

/** The rows of these transactions by the events that were known. */
async function rowsOf(past: Past, ids: string[]): Promise<TransactionRow[]> {
  const rows: TransactionRow[] = [];
  for (let first = 0; first < ids.length; first += foldedMax) {
    await letOthersRun();
    const some = ids.slice(first, first + foldedMax);
    rows.push(...(await projectFrom((each) => pastEvents(past, transactionTypes, each), some)));
  }
  return rows;
}

/** What the SQL transaction of a position has changed up to it. */
async function changesWithin({ sql, position, limitMs }: Known, past: Past): Promise<Within> {
  const { transactions, payouts } = await changedIn(sql, position.before);
  const eventsBefore = withTables(sql, knownEvents({ before: position.before, also: [] }));
  const [before, after, payoutRows] = await Promise.all([
    rowsOf(pastAsOf(eventsBefore, end, limitMs), transactions),
    rowsOf(past, transactions),
    Promise.all(payouts.map((id) => foldPast(past, ["payout"], payoutProjection, id))),
  ]);
  return {
    ids: transactions,
    before,
    after,
    payoutIds: payouts,
    payouts: payoutRows.flatMap((row) => row ?? []),
    metadataKeys: metadataKeysOf(after),
  };
}
