import { effectiveMaxima } from "../../../generated/ledger.maxima.ts";
import type { LimitedSql } from "../../database/database.ts";
import { failure } from "../../http/failure.ts";
import type { Currency } from "../../values/currency.ts";
import { namesOfTimeZone } from "../../values/time-zone.ts";
import { changesByEvent, type TransactionChange } from "../past/changes.ts";
import { knownLedger } from "../past/known.ts";
import type { Cursors } from "../requests/cursor.ts";
import { accountMissing, timeZoneUnknown, unknownCursor, wrong } from "../requests/failures.ts";
import { entriesMax, type Report, readGroups, reportOf } from "../requests/groups.ts";
import type { Reader } from "../requests/lanes.ts";
import { knownAt, knownFirst, knownNow, type NamedKnown } from "../requests/positions.ts";
import { withPositions } from "../requests/reading.ts";
import { statusErrorsOf } from "../requests/search-filter.ts";
import { listChanges, type RecordedChange } from "../tables/known/changed.ts";
import { always } from "../tables/summary/periods.ts";
import { differencesOf, knownTimeZone, readBy, summariseChanges } from "../tables/summary/summary.ts";
import { viewNextPage } from "../views/links.ts";
import { viewGroup, viewTransactionChange } from "../views/report.ts";

const { display_size: displaySizeMax } = effectiveMaxima.listTransactionReportChanges;
/** Maximum number of groups that have changed. */
const groupsMax = 500;

const tooManyGroups = wrong(
  "group_by",
  { maximum: groupsMax },
  `more than ${groupsMax} groups have changed, or the report has more than ${entriesMax.toLocaleString("en")}; fewer columns ` +
    "in group_by, or a shorter time between from_date and to_date, may succeed",
);
const isReversed = wrong("since", { maximum: "until" }, "since must not be after until");

export const reportChangesHandlers = (reader: Reader, cursors: Cursors, { code: currency }: Currency) =>
  withPositions(reader, cursors, {
    async listTransactionReportChanges({ query, url, owner }) {
      const errors = statusErrorsOf(query);
      if (errors.length > 0) return failure(400, ...errors);
      if (!query.account_id && !query.override_account_id_restriction) return accountMissing;
      const after = cursors.change.read(query.cursor);
      if (after === null) return unknownCursor;
      const timeZone = await knownTimeZone(reader.sql, namesOfTimeZone(query.time_zone));
      if (timeZone === undefined) return timeZoneUnknown;
      const since = query.since
        ? await knownAt(reader, cursors, { name: "since", text: query.since, timeZone })
        : await knownFirst(reader, cursors);
      if ("status" in since) return since;
      const until = query.until
        ? await knownAt(reader, cursors, { name: "until", text: query.until, timeZone })
        : await knownNow(reader, cursors);
      if ("status" in until) return until;
      if (since.position.before > until.position.before) return isReversed;
      const report = reportOf(query, timeZone);
      const lane = reader.lanes(owner, query.account_id);
      const groups = after ? undefined : await differences(lane, since, until, report);
      if (groups && groups.length > groupsMax) return tooManyGroups;
      const max = Math.min(query.display_size, displaySizeMax);
      const { changes, next } = await listBetween(lane, since, until, report, after, max);
      const positions = { since: since.name, until: until.name };
      const lists = { account_id: query.account_id?.join(), group_by: query.group_by?.join() };
      const nextCursor = next && cursors.change.write(next);
      const { links, headers } = viewNextPage(url, { ...query, ...positions, ...lists }, nextCursor);
      const shown = changes.map(({ change, groups: own }) =>
        viewTransactionChange(change, own, cursors.feed.write),
      );
      return {
        status: 200,
        headers,
        body: { currency, ...positions, groups: groups?.map(viewGroup), changes: shown, _links: links },
      };
    },
  });

/** The differences between the groups of a report at two positions. They are more than the maximum if there are too many groups. */
async function differences(
  lane: LimitedSql,
  since: NamedKnown,
  until: NamedKnown,
  { filter, grouping }: Report,
) {
  const [before, later] = await Promise.all(
    [since, until].map(async (known) => {
      const sql = await knownLedger({ ...known, sql: lane }, readBy(filter, grouping));
      return readGroups(sql, filter, grouping, undefined, entriesMax);
    }),
  );
  const isWhole = before?.next === undefined && later?.next === undefined;
  return isWhole
    ? differencesOf(before?.groups ?? [], later?.groups ?? [], grouping.groupBy)
    : [...(before?.groups ?? []), ...(later?.groups ?? [])];
}

/** A page of the changes that have added to groups or removed from them, and what these are. */
async function listBetween(
  lane: LimitedSql,
  since: NamedKnown,
  until: NamedKnown,
  { filter, grouping }: Report,
  after: RecordedChange | undefined,
  max: number,
) {
  const { created = always, ...conditions } = filter;
  const between = {
    position: since.position,
    mergedEnd: since.state.merged_end,
    until: until.position,
    accounts: filter.account_id,
    created: [created],
    filter: conditions,
  };
  const { changes: recorded, next } = await listChanges(lane, between, after, max);
  const changes = await changesByEvent(lane, recorded, since.position, until.position);
  const summarised = await summariseChanges(lane, rowsOf(changes), filter, grouping);
  const byChange = Map.groupBy(summarised, ({ number }) => number);
  const listed = changes.flatMap((change, number) => {
    const groups = byChange.get(number)?.map(({ number: _, ...group }) => group);
    return groups ? { change, groups } : [];
  });
  return { changes: listed, next };
}

/** The rows before and after each change, with its number. A rebuild is what was recorded. */
function rowsOf(changes: TransactionChange[]) {
  const signed = (number: number, sign: 1 | -1, row: object | undefined) =>
    row ? [{ number, sign, row }] : [];
  return {
    rows: changes.flatMap(({ before, after }, number) => [
      ...signed(number, -1, before),
      ...signed(number, 1, after),
    ]),
    recorded: changes.flatMap(({ event, sql_transaction, external_id }, number) =>
      event ? [] : { number, sql_transaction, external_id },
    ),
  };
}
