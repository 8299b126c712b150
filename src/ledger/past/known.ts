import type { LimitedSql, Sql } from "../../database/database.ts";
import { letOthersRun } from "../../waiting/turns.ts";
import { metadataKeysOf } from "../projection/metadata.ts";
import { payoutProjection } from "../projection/payout.ts";
import { projectFrom } from "../projection/transaction.ts";
import { childIdsAsOf, transactionTypes } from "../tables/event.ts";
import { arrivedEvents } from "../tables/known/arrived.ts";
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
  type Tables,
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

/** What the ledger knew at a position, read on `sql`. A statement takes as long as the limit at most, in milliseconds. */
export interface Known {
  sql: LimitedSql;
  position: KnownPosition;
  state: KnownState;
  limitMs: number;
}

/**
 * Statements that find what the ledger knew: events, summaries, payouts and metadata keys, and of the transactions those that
 * are wanted; others can be missing, or as they are now. `choose` can read everything but transactions, then and now. A
 * transaction that has changed since is folded again from the events that were known, in the snapshot of the statement, so that
 * nothing can change meanwhile. Statements throw `TooManyChanged`.
 */
export function knownLedger(known: Known, choose: Choose = { ids: [] }): Sql {
  const { sql, position, state } = known;
  /** The rows of transactions at the position, which no later event changes. */
  const rows = new Map<string, TransactionRow>();
  let within: Within | undefined;
  let changed: (Changed & { arrived: string }) | undefined;

  async function tablesIn(snapshot: Sql): Promise<Tables> {
    const past = pastAsOf(withTables(snapshot, knownEvents(position)), end, known.limitMs);
    if (state.is_within) within ??= await changesWithin(snapshot, known, past);
    const summaries = knownSummaries(position, state.merged_end, within);
    const tables = { ...knownEvents(position), ...summaries, ...knownOthers(position, within) };
    const arrived = await arrivedEvents(snapshot);
    if (changed?.arrived !== arrived) {
      const found = await findChanged(snapshot, known, withTables(snapshot, tables), choose);
      changed = { ...found, arrived };
    }
    // The changes of an SQL transaction as a whole do not show which transactions its first events had changed.
    const ids = [...new Set([...changed.ids, ...(within?.ids ?? [])])];
    const unread = ids.filter((id) => !rows.has(id));
    for (const row of await rowsOf(past, unread)) rows.set(row.external_id, row);
    const folded = ids.flatMap((id) => rows.get(id) ?? []);
    return { ...tables, ...knownTransactions(position, ids, folded, changed.last) };
  }

  let last: Promise<unknown> = Promise.resolve();
  return {
    run: (script) => sql.run(script),
    query<Row>(text: string, values?: unknown[]) {
      const read = async (snapshot: Sql) =>
        withTables(snapshot, await tablesIn(snapshot)).query<Row>(text, values);
      // After the one before, whose transactions this one needs, too.
      const found = last.then(() => sql.snapshot(read));
      last = found.catch(() => {});
      return found;
    },
  };
}

type Choose = Wanted | ((then: Sql, now: Sql) => Promise<Wanted>);

/** The transactions that are folded again. */
interface Changed {
  ids: string[];
  /** None of the others was created at this instant or later. */
  last: string;
}

/** `now` has the present tables, `then` those of the position but the transactions. */
async function findChanged(now: Sql, known: Known, then: Sql, choose: Choose): Promise<Changed> {
  const wanted = typeof choose === "function" ? await choose(then, now) : choose;
  const isByDate = "created" in wanted && wanted.created.length > 0;
  const last = isByDate ? await lastMidnight(then, wanted.accounts) : end;
  const ids =
    "familyOf" in wanted ? await familyOf(now, wanted.familyOf) : await changedIds(now, known, wanted, last);
  return { ids, last };
}

/** Also the children of later events: they are children now, and were none then. */
const familyOf = async (sql: Sql, id: string) => [id, ...(await childIdsAsOf(sql, id, end))];

/** The ids of those that have changed since, and of those that are given. None was created at `last` or later. */
async function changedIds(
  sql: Sql,
  { position, state }: Known,
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
export async function rowsOf(past: Past, ids: string[]): Promise<TransactionRow[]> {
  const rows: TransactionRow[] = [];
  for (let first = 0; first < ids.length; first += foldedMax) {
    await letOthersRun();
    const some = ids.slice(first, first + foldedMax);
    rows.push(...(await projectFrom((each) => pastEvents(past, transactionTypes, each), some)));
  }
  return rows;
}

/** What the SQL transaction of a position has changed up to it. */
export async function changesWithin(sql: Sql, { position, limitMs }: Known, past: Past): Promise<Within> {
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
