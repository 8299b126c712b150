import { stateMachine } from "../../../generated/ledger.state-machine.ts";
import type { operations } from "../../../generated/ledger.ts";
import type { Handlers } from "../../http/handlers.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { throughDays, throughInstants } from "../requests/created-interval.ts";
import type { Cursors } from "../requests/cursor.ts";
import { entriesMax, readGroupCursor, readGroups } from "../requests/groups.ts";
import type { Reader } from "../requests/lanes.ts";
import { problem, unknownCursor } from "../requests/problem.ts";
import { noTransactions, summarise, summariseAmounts } from "../tables/summary/summary.ts";
import { viewNextPage } from "../views/next-page.ts";
import { viewGatewayPerformance, viewPerformance } from "../views/report.ts";

const datesMissing = problem(400, ["Both from_date and to_date must be provided"]);
const datesReversed = problem(400, ["from_date must be earlier or equal to to_date"]);

const isHalfGiven = ({ from_date, to_date }: { from_date?: unknown; to_date?: unknown }): boolean =>
  (from_date === undefined) !== (to_date === undefined);

const livePayments = { transaction_type: "PAYMENT", live: true, withoutCorrections: true } as const;
const finishedStates = stateMachine.transaction_states.flatMap(({ state, finished }) =>
  finished ? [state] : [],
);

export const performanceHandlers = ({ lanes }: Reader, cursors: Cursors) =>
  ({
    async getPerformanceReport({ query, owner }) {
      if (isHalfGiven(query)) return datesMissing;
      const state = query.state ? [query.state] : finishedStates;
      const filter = { ...livePayments, state, created: throughDays(query) };
      const grouping = { groupBy: [], sums: ["gross_amount"] as const };
      const [all = noTransactions] = await summarise(lanes(owner), filter, grouping);
      return { status: 200, body: viewPerformance(all.count, all.gross_amount) };
    },

    async getLegacyPerformanceReport({ query, owner }) {
      if (isHalfGiven(query)) return datesMissing;
      const filter = { live: true, state: query.state };
      const { count, amount } = await summariseAmounts(lanes(owner), throughInstants(query), filter);
      return { status: 200, body: viewPerformance(count, amount) };
    },

    async listGatewayPerformance({ query, url, owner }) {
      if (query.from_date > query.to_date) return datesReversed;
      const grouping = { groupBy: ["account", "month"] as const, sums: ["gross_amount"] as const };
      const after = readGroupCursor(cursors, query.cursor, grouping.groupBy);
      if (after === null) return unknownCursor;
      const filter = { ...livePayments, state: ["SUCCESS" as const], created: throughDays(query) };
      const { groups, next } = await readGroups(lanes(owner), filter, grouping, after, entriesMax);
      const { headers } = viewNextPage(url, query, next && cursors.group.write(next));
      return { status: 200, headers, body: await mapInTurns(groups, viewGatewayPerformance) };
    },
  }) satisfies Partial<Handlers<operations>>;
