import type { Sql } from "../../database/database.ts";
import { everyChangedSince } from "../tables/known/changed.ts";
import {
  knownEvents,
  knownOthers,
  knownTransactions,
  type Within,
  withTables,
} from "../tables/known/view.ts";
import {
  comparePlaces,
  createdBetween,
  eventsAfter,
  type Place,
  payoutsAfter,
  transactionsBetween,
  transactionsPageEnd,
  type Walked,
  walkPageMax,
} from "../tables/known/walk.ts";
import { end } from "../tables/summary/periods.ts";
import type { TransactionRow } from "../tables/transaction.ts";
import { changesWithin, type Known, rowsOf } from "./known.ts";
import { type Past, pastAsOf } from "./past.ts";

/** Those that are folded at once. */
const foldedMax = 100;

// Everything that the ledger knew at a position, oldest first, in pages. Each page is a snapshot of its own, so that none
// lasts long. How the rows are divided into pages depends on what has changed since the position, and the rows do not.

/**
 * Transactions. Those that have changed since the position are folded again from the events that were known. Any number of
 * them can have changed: of those that changed in the hours of a page, only the places are kept in memory.
 */
export async function* walkTransactions(known: Known, walked: Walked, start: Place | undefined) {
  let after = start;
  let folded = new Map<string, Folded>();
  for (;;) {
    const page = await known.sql.snapshot(async (snapshot) => {
      const { within, past } = await openPage(snapshot, known);
      const pageEnd = await transactionsPageEnd(snapshot, walked, after);
      const ids = await changedIds(snapshot, known, walked, after, pageEnd, within);
      folded = await placesOf(past, ids, folded);
      const between = (place: Place) =>
        (!after || comparePlaces(place, after) > 0) && (!pageEnd || comparePlaces(place, pageEnd) <= 0);
      const own = [...folded.values()].flatMap(({ place, account }) => {
        const isWalked =
          place && place.instant >= walked.dated.from && place.instant < walked.dated.to && between(place);
        return isWalked && (walked.account ?? account) === account ? [place] : [];
      });
      const changed = own.sort(comparePlaces).slice(0, walkPageMax);
      const upTo = own.length > walkPageMax ? changed.at(-1) : pageEnd;
      const rows: TransactionRow[] = [];
      await eachFolded(
        past,
        changed.map(({ id }) => id),
        (row) => rows.push(row),
      );
      const tables = {
        ...knownOthers(known.position, within),
        ...knownTransactions(known.position, ids, rows),
      };
      return { rows: await transactionsBetween(withTables(snapshot, tables), walked, after, upTo), upTo };
    });
    if (page.rows.length > 0) yield page.rows;
    if (!page.upTo) return;
    after = page.upTo;
  }
}

/** Where a transaction was at the position; nowhere if it had no event. */
interface Folded {
  place: Place | undefined;
  account: string | null;
}

async function openPage(snapshot: Sql, known: Known): Promise<{ past: Past; within: Within | undefined }> {
  const past = pastAsOf(withTables(snapshot, knownEvents(known.position)), end, known.limitMs);
  return { past, within: known.state.is_within ? await changesWithin(snapshot, known, past) : undefined };
}

async function changedIds(
  snapshot: Sql,
  { position, state }: Known,
  walked: Walked,
  after: Place | undefined,
  upTo: Place | undefined,
  within: Within | undefined,
): Promise<string[]> {
  const since = { position, mergedEnd: state.merged_end, ...createdBetween(walked, after, upTo) };
  return [...new Set([...(await everyChangedSince(snapshot, since)), ...(within?.ids ?? [])])];
}

/** The places of these transactions. The position never changes, so those that are folded stay as they are. */
async function placesOf(
  past: Past,
  ids: string[],
  folded: Map<string, Folded>,
): Promise<Map<string, Folded>> {
  const places = new Map<string, Folded>(
    ids.map((id) => [id, folded.get(id) ?? { place: undefined, account: null }]),
  );
  await eachFolded(
    past,
    ids.filter((id) => !folded.has(id)),
    ({ external_id, created_date, gateway_account_id }) =>
      places.set(external_id, {
        place: { instant: created_date, id: external_id },
        account: gateway_account_id,
      }),
  );
  return places;
}

async function eachFolded(past: Past, ids: string[], use: (row: TransactionRow) => unknown): Promise<void> {
  for (let first = 0; first < ids.length; first += foldedMax)
    for (const row of await rowsOf(past, ids.slice(first, first + foldedMax))) use(row);
}

export async function* walkEvents({ sql, position }: Known, walked: Walked, start: Place | undefined) {
  let after = start;
  do {
    const { rows, next } = await eventsAfter(sql, position, walked, after);
    if (rows.length > 0) yield rows;
    after = next;
  } while (after);
}

export async function* walkPayouts(known: Known, walked: Walked, start: Place | undefined) {
  let after = start;
  for (;;) {
    const rows = await known.sql.snapshot(async (snapshot) => {
      const { within } = await openPage(snapshot, known);
      return payoutsAfter(withTables(snapshot, knownOthers(known.position, within)), walked, after);
    });
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (!last || rows.length < walkPageMax) return;
    after = { instant: last.created_date, id: last.gateway_payout_id };
  }
}
