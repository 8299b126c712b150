import { effectiveMaxima } from "../../../generated/ledger.maxima.ts";
import { stateMachine } from "../../../generated/ledger.state-machine.ts";
import type { Sql } from "../../database/database.ts";
import { failure } from "../../http/failure.ts";
import type { Currency } from "../../values/currency.ts";
import { namesOfTimeZone } from "../../values/time-zone.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { betweenInstants, throughDays, throughInstants } from "../requests/created-interval.ts";
import { asksForCsv, csvResponse } from "../requests/csv.ts";
import type { Cursors, GroupPosition } from "../requests/cursor.ts";
import { accountMissing, missing, timeZoneUnknown, unknownCursor, wrong } from "../requests/failures.ts";
import { entriesMax, type GroupPage, readGroupCursor, readGroups, reportOf } from "../requests/groups.ts";
import type { Reader } from "../requests/lanes.ts";
import { withReadings } from "../requests/reading.ts";
import { statusErrorsOf } from "../requests/search-filter.ts";
import { isAlways } from "../tables/summary/periods.ts";
import {
  knownTimeZone,
  noTransactions,
  readBy,
  type Sums,
  summarise,
  summariseAmounts,
  summariseByHour,
} from "../tables/summary/summary.ts";
import { viewPositionLine } from "../views/csv.ts";
import { viewNextPage } from "../views/links.ts";
import {
  viewGatewayPerformance,
  viewGroup,
  viewHour,
  viewPaymentsByState,
  viewPerformance,
  viewReportCsv,
} from "../views/report.ts";
import { statusesByState } from "../views/state.ts";

const datesMissing = missing("from_date", "Both from_date and to_date must be provided");
const datesReversed = wrong(
  "from_date",
  { maximum: "to_date" },
  "from_date must be earlier or equal to to_date",
);

const isHalfGiven = ({ from_date, to_date }: { from_date?: unknown; to_date?: unknown }): boolean =>
  (from_date === undefined) !== (to_date === undefined);

const livePayments = { transaction_type: "PAYMENT", live: true, withoutCorrections: true } as const;
const finishedStates = stateMachine.transaction_states.flatMap(({ state, finished }) =>
  finished ? [state] : [],
);

export function performanceHandlers(reader: Reader, cursors: Cursors) {
  const { lanes } = reader;
  return withReadings(reader, cursors, {
    async getPerformanceReport({ query, owner }, reading) {
      if (isHalfGiven(query)) return datesMissing;
      const state = query.state ? [query.state] : finishedStates;
      const filter = { ...livePayments, state, created: throughDays(query) };
      const grouping = { groupBy: [], sums: ["gross_amount"] as const };
      const sql = reading.at(lanes(owner), readBy(filter, grouping));
      const [all = noTransactions] = await summarise(sql, filter, grouping);
      return { status: 200, body: viewPerformance(all.count, all.gross_amount) };
    },

    async getLegacyPerformanceReport({ query, owner }, reading) {
      if (isHalfGiven(query)) return datesMissing;
      const filter = { live: true, state: query.state };
      const created = throughInstants(query);
      const sql = reading.at(lanes(owner), { created: [created] });
      const { count, amount } = await summariseAmounts(sql, created, filter);
      return { status: 200, headers: { Deprecation: "@1796083200" }, body: viewPerformance(count, amount) };
    },

    async listGatewayPerformance({ query, url, owner }, reading) {
      if (query.from_date > query.to_date) return datesReversed;
      const grouping = { groupBy: ["account", "month"] as const, sums: ["gross_amount"] as const };
      const after = readGroupCursor(cursors, query.cursor, grouping.groupBy);
      if (after === null) return unknownCursor;
      const filter = { ...livePayments, state: ["SUCCESS" as const], created: throughDays(query) };
      const sql = reading.at(lanes(owner), readBy(filter, grouping));
      const { groups, next } = await readGroups(sql, filter, grouping, after, entriesMax);
      const { headers } = viewNextPage(url, query, next && cursors.group.write(next));
      return { status: 200, headers, body: await mapInTurns(groups, viewGatewayPerformance) };
    },
  });
}

const fromDateMissing = missing("from_date", "Field [from_date] can not be null");

const sumOf = (groups: Sums[], name: keyof Sums): bigint =>
  groups.reduce((total, group) => total + group[name], 0n);

export function summaryHandlers(reader: Reader, cursors: Cursors) {
  const { lanes } = reader;
  return withReadings(reader, cursors, {
    async getTransactionsSummary({ query, owner }, reading) {
      const { account_id: account } = query;
      if (!query.from_date && !query.override_from_date_validation) return fromDateMissing;
      if (!account && !query.override_account_id_restriction) return accountMissing;
      const created = betweenInstants(query);
      const filter = {
        account_id: account === undefined ? undefined : [account],
        state: ["SUCCESS" as const],
        created,
      };
      const grouping = {
        groupBy: ["type", "moto"] as const,
        sums: ["gross_amount"] as const,
        // Planning costs more than reading the sums of all time, which are few rows.
        plan: isAlways(created) ? ("repeated" as const) : ("custom" as const),
      };
      const sql = reading.at(lanes(owner, account), readBy(filter, grouping));
      const groups = await summarise(sql, filter, grouping);
      const add = (type: string, moto?: string) => {
        const matching = groups.filter((group) => group.type === type && (moto ?? group.moto) === group.moto);
        return { count: Number(sumOf(matching, "count")), gross_amount: sumOf(matching, "gross_amount") };
      };
      const [payments, refunds] = [add("PAYMENT"), add("REFUND")];
      const body = {
        payments,
        moto_payments: query.include_moto_statistics
          ? add("PAYMENT", "true")
          : { count: 0, gross_amount: 0n },
        refunds,
        net_income: payments.gross_amount - refunds.gross_amount,
      };
      return { status: 200, body };
    },

    async getPaymentsByState({ query, owner }, reading) {
      const { account_id: account } = query;
      if (!account && !query.override_account_id_restriction) return accountMissing;
      const filter = {
        account_id: account === undefined ? undefined : [account],
        transaction_type: "PAYMENT" as const,
        created: betweenInstants(query),
      };
      const grouping = { groupBy: ["state" as const], sums: [], statuses: statusesByState(2) };
      const sql = reading.at(lanes(owner, account), readBy(filter, grouping));
      return { status: 200, body: viewPaymentsByState(await summarise(sql, filter, grouping)) };
    },

    async listTransactionsByHour({ query, url, owner }, reading) {
      const after = cursors.hour.read(query.cursor);
      if (after === null) return unknownCursor;
      const interval = throughInstants(query);
      const from = after && after.hour > interval.from ? after.hour : interval.from;
      const created = { ...interval, from };
      const sql = reading.at(lanes(owner), readBy({ created }, { groupBy: [] }));
      const rows = await summariseByHour(sql, created, entriesMax + 1);
      const hour = rows[entriesMax]?.hour;
      const { headers } = viewNextPage(url, query, hour && cursors.hour.write({ hour }));
      return { status: 200, headers, body: await mapInTurns(rows.slice(0, entriesMax), viewHour) };
    },
  });
}

const { display_size: displaySizeMax } = effectiveMaxima.getTransactionReport;
/** Number of groups of a CSV that are read at a time. Each time all groups are computed, so fewer would take longer. */
const csvPageMax = 10_000;

export function transactionReportHandlers(reader: Reader, cursors: Cursors, { code }: Currency) {
  const { lanes } = reader;
  return withReadings(reader, cursors, {
    async getTransactionReport(request, reading) {
      const { query, url, owner } = request;
      const errors = statusErrorsOf(query);
      if (errors.length > 0) return failure(400, ...errors);
      if (!query.account_id && !query.override_account_id_restriction) return accountMissing;
      const timeZone = await knownTimeZone(reader.sql, namesOfTimeZone(query.time_zone));
      if (timeZone === undefined) return timeZoneUnknown;
      const lane = lanes(owner, query.account_id);
      const { filter, grouping } = reportOf(query, timeZone);
      const { groupBy } = grouping;
      const wanted = readBy(filter, grouping);
      /** Without columns to group by there is always one group. */
      const read = async (sql: Sql, after: GroupPosition | undefined, max: number) => {
        const page = await readGroups(sql, filter, grouping, after, max);
        const isEmpty = groupBy.length === 0 && page.groups.length === 0;
        return isEmpty ? { ...page, groups: [noTransactions] } : page;
      };
      if (asksForCsv(request)) {
        const { header, line } = viewReportCsv(groupBy, query.currency_header ? code : undefined, query);
        const write = async ({ groups, next }: GroupPage) => ({
          lines: (await mapInTurns(groups, line)).join(""),
          next,
        });
        const first = await read(reading.at(lane, wanted), undefined, csvPageMax);
        if (first.next && !query.position_line) reading.leaveOpen();
        const readAfter = async (after: GroupPosition) =>
          read(await reading.rest(lane, wanted), after, csvPageMax);
        const last = query.position_line ? viewPositionLine(await reading.position(), query) : "";
        return csvResponse("transaction-report.csv", header, first, write, readAfter, last);
      }
      const after = readGroupCursor(cursors, query.cursor, groupBy);
      if (after === null) return unknownCursor;
      const { groups, next } = await read(
        reading.at(lane, wanted),
        after,
        Math.min(query.display_size, displaySizeMax),
      );
      // Repeated accounts would make the address too long.
      const lists = { account_id: query.account_id?.join(), group_by: query.group_by?.join() };
      const { links, headers } = viewNextPage(url, { ...query, ...lists }, next && cursors.group.write(next));
      const body = { currency: code, groups: groups.map(viewGroup), _links: links };
      return {
        status: 200,
        headers,
        body: { ...body, position: await reading.position() },
        tagged: [JSON.stringify(body)],
      };
    },
  });
}
