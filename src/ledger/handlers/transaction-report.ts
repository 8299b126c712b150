import { defaults } from "../../../generated/ledger.defaults.ts";
import type { operations } from "../../../generated/ledger.ts";
import type { Handlers } from "../../http/handlers.ts";
import { namesOfTimeZone } from "../../values/time-zone.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { betweenInstants } from "../requests/created-interval.ts";
import { asksForCsv, csvResponse } from "../requests/csv.ts";
import type { Cursors, GroupPosition } from "../requests/cursor.ts";
import { type GroupPage, readGroupCursor, readGroups } from "../requests/groups.ts";
import type { Reader } from "../requests/lanes.ts";
import { accountMissing, problem, unknownCursor } from "../requests/problem.ts";
import { stateFilterOf, statusErrorsOf } from "../requests/state-filter.ts";
import { knownTimeZone, noTransactions } from "../tables/summary/summary.ts";
import { viewNextPage } from "../views/next-page.ts";
import { viewGroup, viewReportCsv } from "../views/report.ts";
import { statusesByState } from "../views/state.ts";

/** The default of `display_size` is also its maximum. */
const { display_size: displaySizeMax } = defaults.getTransactionReport;
/** Number of groups of a CSV that are read at a time. Each time all groups are computed, so fewer would take longer. */
const csvPageMax = 10_000;

const timeZoneUnknown = problem(400, [
  "query parameter time_zone must be a time zone that the database knows, such as Europe/London",
]);

export const transactionReportHandlers = ({ sql, lanes }: Reader, cursors: Cursors) =>
  ({
    async getTransactionReport(request) {
      const { query, url, owner } = request;
      const errors = statusErrorsOf(query);
      if (errors.length > 0) return problem(400, errors);
      if (!query.account_id && !query.override_account_id_restriction) return accountMissing;
      const timeZone = await knownTimeZone(sql, namesOfTimeZone(query.time_zone));
      if (timeZone === undefined) return timeZoneUnknown;
      const { group_by: groupBy = [] } = query;
      const lane = lanes(owner, query.account_id);
      const filter = {
        account_id: query.account_id,
        transaction_type: query.transaction_type,
        ...stateFilterOf(query),
        created: betweenInstants(query),
      };
      const grouping = { groupBy, timeZone, statuses: statusesByState(query.status_version) };
      /** Without columns to group by there is always one group. */
      const read = async (after: GroupPosition | undefined, max: number) => {
        const page = await readGroups(lane, filter, grouping, after, max);
        const isEmpty = groupBy.length === 0 && page.groups.length === 0;
        return isEmpty ? { ...page, groups: [noTransactions] } : page;
      };
      if (asksForCsv(request)) {
        const { header, line } = viewReportCsv(groupBy);
        const write = async ({ groups, next }: GroupPage) => ({
          lines: (await mapInTurns(groups, line)).join(""),
          next,
        });
        const [first, readAfter] = [
          await read(undefined, csvPageMax),
          (after: GroupPosition) => read(after, csvPageMax),
        ];
        return csvResponse("transaction-report.csv", header, first, write, readAfter);
      }
      const after = readGroupCursor(cursors, query.cursor, groupBy);
      if (after === null) return unknownCursor;
      const { groups, next } = await read(after, Math.min(query.display_size, displaySizeMax));
      // Repeated accounts would make the address too long.
      const lists = { account_id: query.account_id?.join(), group_by: query.group_by?.join() };
      const { links, headers } = viewNextPage(url, { ...query, ...lists }, next && cursors.group.write(next));
      return { status: 200, headers, body: { groups: groups.map(viewGroup), _links: links } };
    },
  }) satisfies Partial<Handlers<operations>>;
