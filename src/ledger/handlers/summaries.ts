import type { operations } from "../../../generated/ledger.ts";
import type { Handlers } from "../../http/handlers.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { betweenInstants, throughInstants } from "../requests/created-interval.ts";
import type { Cursors } from "../requests/cursor.ts";
import { entriesMax } from "../requests/groups.ts";
import type { Reader } from "../requests/lanes.ts";
import { accountMissing, problem, unknownCursor } from "../requests/problem.ts";
import { type Sums, summarise, summariseByHour } from "../tables/summary/summary.ts";
import { viewNextPage } from "../views/next-page.ts";
import { viewHour, viewPaymentsByState } from "../views/report.ts";
import { statusesByState } from "../views/state.ts";

const fromDateMissing = problem(400, ["Field [from_date] can not be null"]);

const sumOf = (groups: Sums[], name: keyof Sums): bigint =>
  groups.reduce((total, group) => total + group[name], 0n);

export const summaryHandlers = ({ lanes }: Reader, cursors: Cursors) =>
  ({
    async getTransactionsSummary({ query, owner }) {
      const { account_id: account } = query;
      if (!query.from_date && !query.override_from_date_validation) return fromDateMissing;
      if (!account && !query.override_account_id_restriction) return accountMissing;
      const filter = {
        account_id: account === undefined ? undefined : [account],
        state: ["SUCCESS" as const],
        created: betweenInstants(query),
      };
      const grouping = { groupBy: ["type", "moto"] as const, sums: ["gross_amount"] as const };
      const groups = await summarise(lanes(owner, account), filter, grouping);
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

    async getPaymentsByState({ query, owner }) {
      const { account_id: account } = query;
      if (!account && !query.override_account_id_restriction) return accountMissing;
      const filter = {
        account_id: account === undefined ? undefined : [account],
        transaction_type: "PAYMENT" as const,
        created: betweenInstants(query),
      };
      const grouping = { groupBy: ["state" as const], sums: [], statuses: statusesByState(2) };
      const groups = await summarise(lanes(owner, account), filter, grouping);
      return { status: 200, body: viewPaymentsByState(groups) };
    },

    async listTransactionsByHour({ query, url, owner }) {
      const after = cursors.hour.read(query.cursor);
      if (after === null) return unknownCursor;
      const interval = throughInstants(query);
      const from = after && after.hour > interval.from ? after.hour : interval.from;
      const rows = await summariseByHour(lanes(owner), { ...interval, from }, entriesMax + 1);
      const hour = rows[entriesMax]?.hour;
      const { headers } = viewNextPage(url, query, hour && cursors.hour.write({ hour }));
      return { status: 200, headers, body: await mapInTurns(rows.slice(0, entriesMax), viewHour) };
    },
  }) satisfies Partial<Handlers<operations>>;
