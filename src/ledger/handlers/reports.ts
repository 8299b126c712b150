import { defaults } from "../../../generated/ledger.defaults.ts";
import { stateMachine } from "../../../generated/ledger.state-machine.ts";
import type { operations } from "../../../generated/ledger.ts";
import type { Sql } from "../../database/database.ts";
import type { Handlers } from "../../http/handlers.ts";
import { namesOfTimeZone } from "../../values/time-zone.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { betweenInstants, throughDays, throughInstants } from "../requests/created-interval.ts";
import { asksForCsv, csvResponse } from "../requests/csv.ts";
import type { CursorKind, Cursors, GroupPosition } from "../requests/cursor.ts";
import type { Lanes } from "../requests/lanes.ts";
import { accountMissing, problem, unknownCursor } from "../requests/problem.ts";
import { stateFilterOf, statusErrorsOf } from "../requests/state-filter.ts";
import { type GroupColumn, type SummaryFilter, sumColumns } from "../tables/summary/rows.ts";
import {
  type Grouping,
  knownTimeZone,
  type Sums,
  summarise,
  summariseAmounts,
  summariseByHour,
} from "../tables/summary/summary.ts";
import { viewLinkHeader, viewNextCursor, viewNextLink } from "../views/next-cursor.ts";
import {
  viewGatewayPerformance,
  viewGroup,
  viewHour,
  viewPaymentsByState,
  viewPerformance,
  viewReportCsv,
} from "../views/report.ts";
import { statusesByState } from "../views/state.ts";

type ReportQuery = operations["getTransactionReport"]["parameters"]["query"];

/** The default of `display_size` is also its maximum. */
const { display_size: displaySizeMax } = defaults.getTransactionReport;
/** Maximum number of entries of a report that is a list: a response of about 2 MB. */
const entriesMax = 10_000;
/** Number of groups of a CSV that are read at a time. Each time all groups are computed, so fewer would take longer. */
const csvPageMax = 10_000;

const noTransactions = Object.fromEntries(["count", ...sumColumns].map((name) => [name, 0n])) as Sums;

type ReportHandlers = Pick<
  Handlers<operations>,
  | "getTransactionReport"
  | "getTransactionsSummary"
  | "getPaymentsByState"
  | "listTransactionsByHour"
  | "getPerformanceReport"
  | "getLegacyPerformanceReport"
  | "listGatewayPerformance"
>;

export const reportHandlers = (sql: Sql, lanes: Lanes, cursors: Cursors): ReportHandlers => ({
  async getTransactionReport(request) {
    const { query, url, owner } = request;
    const errors = statusErrorsOf(query);
    if (errors.length > 0) return problem(400, errors);
    if (!query.account_id && !query.override_account_id_restriction) return accountMissing;
    const timeZone = await knownTimeZone(sql, namesOfTimeZone(query.time_zone));
    if (timeZone === undefined) return timeZoneUnknown;
    const { group_by: groupBy = [], cursor } = query;
    const read = pageReader(lanes(owner, query.account_id), query, { groupBy, timeZone });
    if (asksForCsv(request)) return reportAsCsv(groupBy, read);

    const after = cursor === undefined ? undefined : readGroup(cursors.group, cursor, groupBy);
    if (cursor !== undefined && !after?.length) return unknownCursor;
    const { groups, next } = await read(after, Math.min(query.display_size, displaySizeMax));
    // Repeated accounts would make the address too long.
    const lists = { account_id: query.account_id?.join(), group_by: query.group_by?.join() };
    const links = viewNextCursor(
      url,
      { ...query, ...lists },
      next && cursors.group.write({ columns: groupBy, values: next }),
    );
    return {
      status: 200,
      headers: viewLinkHeader(links),
      body: { groups: groups.map(viewGroup), _links: links },
    };
  },

  async getTransactionsSummary({ query, owner }) {
    if (!query.from_date && !query.override_from_date_validation) return fromDateMissing;
    if (!query.account_id && !query.override_account_id_restriction) return accountMissing;
    const filter = { ...accountOf(query), states: ["SUCCESS" as const], created: betweenInstants(query) };
    const grouping = { groupBy: ["type", "moto"] as const, sums: ["gross_amount"] as const };
    const groups = await summarise(lanes(owner, query.account_id), filter, grouping);
    const add = (type: string, moto?: string) => {
      const matching = groups.filter((group) => group.type === type && (moto ?? group.moto) === group.moto);
      return {
        count: Number(sumOf(matching, "count")),
        gross_amount: sumOf(matching, "gross_amount"),
      };
    };
    const [payments, refunds] = [add("PAYMENT"), add("REFUND")];
    const body = {
      payments,
      moto_payments: query.include_moto_statistics ? add("PAYMENT", "true") : { count: 0, gross_amount: 0n },
      refunds,
      net_income: payments.gross_amount - refunds.gross_amount,
    };
    return { status: 200, body };
  },

  async getPaymentsByState({ query, owner }) {
    if (!query.account_id && !query.override_account_id_restriction) return accountMissing;
    const filter = {
      ...accountOf(query),
      transaction_type: "PAYMENT" as const,
      created: betweenInstants(query),
    };
    const grouping = { groupBy: ["state" as const], sums: [], statuses: statusesByState(2) };
    const groups = await summarise(lanes(owner, query.account_id), filter, grouping);
    return { status: 200, body: viewPaymentsByState(groups) };
  },

  async listTransactionsByHour({ query, url, owner }) {
    const { cursor } = query;
    const after = cursor === undefined ? undefined : cursors.hour.read(cursor);
    if (cursor !== undefined && !after) return unknownCursor;
    const interval = throughInstants(query);
    const from = after && after.hour > interval.from ? after.hour : interval.from;
    const rows = await summariseByHour(lanes(owner), { ...interval, from }, entriesMax + 1);
    const next = rows[entriesMax]?.hour;
    return {
      status: 200,
      headers: viewNextLink(url, query, next && cursors.hour.write({ hour: next })),
      body: await mapInTurns(rows.slice(0, entriesMax), viewHour),
    };
  },

  async getPerformanceReport({ query, owner }) {
    if (isHalfGiven(query)) return datesMissing;
    const states = query.state ? [query.state] : finishedStates;
    const filter = { ...livePayments, states, created: throughDays(query), withoutCorrections: true };
    const grouping = { groupBy: [], sums: ["gross_amount"] as const };
    const [all = noTransactions] = await summarise(lanes(owner), filter, grouping);
    return { status: 200, body: viewPerformance(all.count, all.gross_amount) };
  },

  async getLegacyPerformanceReport({ query, owner }) {
    if (isHalfGiven(query)) return datesMissing;
    const all = await summariseAmounts(lanes(owner), throughInstants(query), {
      live: true,
      state: query.state,
    });
    return { status: 200, body: viewPerformance(all.count, all.amount) };
  },

  async listGatewayPerformance({ query, url, owner }) {
    if (query.from_date > query.to_date) return datesReversed;
    const grouping = { groupBy: ["account", "month"] as const, sums: ["gross_amount"] as const };
    const after =
      query.cursor === undefined ? undefined : readGroup(cursors.group, query.cursor, grouping.groupBy);
    if (query.cursor !== undefined && !after) return unknownCursor;
    const filter = {
      ...livePayments,
      states: ["SUCCESS" as const],
      created: throughDays(query),
      withoutCorrections: true,
    };
    const { groups, next } = await readGroups(lanes(owner), filter, grouping, after, entriesMax);
    return {
      status: 200,
      headers: viewNextLink(
        url,
        query,
        next && cursors.group.write({ columns: [...grouping.groupBy], values: next }),
      ),
      body: await mapInTurns(groups, viewGatewayPerformance),
    };
  },
});

const timeZoneUnknown = problem(400, [
  "query parameter time_zone must be a time zone that the database knows, such as Europe/London",
]);
const fromDateMissing = problem(400, ["Field [from_date] can not be null"]);
const datesMissing = problem(400, ["Both from_date and to_date must be provided"]);
const datesReversed = problem(400, ["from_date must be earlier or equal to to_date"]);

const finishedStates = stateMachine.transaction_states.flatMap(({ state, finished }) =>
  finished ? [state] : [],
);
const livePayments = { transaction_type: "PAYMENT", live: true } as const;

const accountOf = ({ account_id }: { account_id?: string | undefined }) => ({
  account_ids: account_id === undefined ? undefined : [account_id],
});

const sumOf = (groups: Sums[], name: keyof Sums): bigint =>
  groups.reduce((total, group) => total + group[name], 0n);

const isHalfGiven = ({ from_date, to_date }: { from_date?: unknown; to_date?: unknown }): boolean =>
  (from_date === undefined) !== (to_date === undefined);

/** The values of a cursor in a report with these columns; undefined if it is none of such a report. */
function readGroup(cursors: CursorKind<GroupPosition>, text: string, columns: readonly string[]) {
  const position = cursors.read(text);
  return position?.columns.join() === columns.join() ? position.values : undefined;
}

type Groups = Awaited<ReturnType<typeof summarise>>;

/** The groups after one, and the values of the last one if there are more. */
async function readGroups(
  sql: Sql,
  filter: SummaryFilter,
  grouping: Omit<Grouping, "after" | "max">,
  after: (string | null)[] | undefined,
  max: number,
): Promise<{ groups: Groups; next: (string | null)[] | undefined }> {
  const { groupBy } = grouping;
  const position =
    after && Object.fromEntries(groupBy.map((column, index) => [column, after[index] ?? null]));
  const found = await summarise(sql, filter, { ...grouping, after: position, max: max + 1 });
  const groups = found.slice(0, max);
  const last = found.length > max ? groups.at(-1) : undefined;
  return { groups, next: last && groupBy.map((column) => last[column] ?? null) };
}

/** Reads pages of the report of a query. Without columns to group by there is always one group. */
function pageReader(
  sql: Sql,
  query: ReportQuery,
  { groupBy, timeZone }: Pick<Grouping, "groupBy" | "timeZone">,
) {
  const filter = {
    account_ids: query.account_id,
    transaction_type: query.transaction_type,
    ...stateFilterOf(query),
    created: betweenInstants(query),
  };
  const statuses = statusesByState(query.status_version);
  const grouping = { groupBy, timeZone, statuses };
  return async (after: (string | null)[] | undefined, max: number) => {
    const page = await readGroups(sql, filter, grouping, after, max);
    const isEmpty = groupBy.length === 0 && page.groups.length === 0;
    return isEmpty ? { ...page, groups: [noTransactions] } : page;
  };
}

/** Reads the first groups before it returns, so that a failure until then gets an error response. */
async function reportAsCsv(groupBy: GroupColumn[], read: ReturnType<typeof pageReader>) {
  const csv = viewReportCsv(groupBy);
  let page = await read(undefined, csvPageMax);
  async function* write() {
    yield csv.header;
    for (;;) {
      yield (await mapInTurns(page.groups, csv.line)).join("");
      if (!page.next) return;
      page = await read(page.next, csvPageMax);
    }
  }
  return csvResponse("transaction-report.csv", write());
}
