import type { LedgerClient } from "../../client/client.ts";
import { type Column, Empty, Table, Text, Time } from "../elements.tsx";
import { Field } from "../form.tsx";
import { formatCount, formatDay, formatMoney } from "../format.ts";
import { type Place, withParameters } from "../fragment.ts";
import { goTo } from "../history.ts";
import { Show, useKept } from "../load.tsx";
import { type Report, type ReportGroup, useClient } from "./client.ts";
import { describeEvent } from "./event-words.ts";
import { types } from "./filters.ts";
import { transactionLink } from "./links.ts";
import { useMore } from "./more.tsx";
import { presets } from "./periods.ts";
import { figuresOf, readReport } from "./reports.ts";
import { knownText, type Selection, useSelection } from "./selection.ts";
import { statusName } from "./state.tsx";

type ChangesPage = Awaited<ReturnType<LedgerClient["listTransactionReportChanges"]>>;
type Change = ChangesPage["changes"][number];

interface Props {
  place: Place;
  /** The report whose changes are shown, which can be of earlier. */
  report: Report;
}

/** How a report has changed since a day or a position, and by which events. */
export function Changes({ place, report }: Props) {
  const since = place.parameters.get("since") ?? "";
  return (
    <>
      <h2>Changes since</h2>
      <p class="selects">
        <Field
          key={since}
          label="The end of a day, or a position"
          name="since"
          maxLength={4000}
          placeholder="2026-03-31"
          defaultValue={since}
          onChange={({ currentTarget }) => goTo(withParameters(place, { since: currentTarget.value.trim() }))}
        />
      </p>
      {since && <ChangesSince since={since} report={report} />}
    </>
  );
}

function ChangesSince({ since, report: { known_at, ...filters } }: { since: string; report: Report }) {
  const client = useClient();
  const { zone: time_zone } = useSelection();
  const search = { ...filters, time_zone, group_by: ["type" as const, "state" as const] };
  const key = JSON.stringify([since, known_at, search]);
  const changes = useKept(`changes ${key}`, async (signal) => {
    const first = await client.listTransactionReportChanges(
      { ...search, since, until: known_at },
      { signal },
    );
    const { groups } = await readReport(client, { ...search, known_at: first.until }, signal);
    return { first, groups };
  });
  return (
    <Show of={changes} name="changes">
      {({ first, groups }) => (
        <FoundChanges
          key={first.until}
          first={first}
          groups={groups}
          since={since}
          readPage={(cursor) =>
            client.listTransactionReportChanges({ ...search, since: first.since, until: first.until, cursor })
          }
        />
      )}
    </Show>
  );
}

interface FoundProps {
  first: ChangesPage;
  /** The groups of the report after the changes. */
  groups: ReportGroup[];
  since: string;
  readPage: (cursor: string) => Promise<ChangesPage>;
}

function FoundChanges({ first, groups, since, readPage }: FoundProps) {
  const selection = useSelection();
  const { pages, more, hasMore } = useMore("changes", first, readPage);
  const changes = pages.flatMap((page) => page.changes);
  const differences = first.groups ?? [];
  const count = (counted: Change[]) => eventCount(counted, hasMore);
  if (changes.length + differences.length === 0 && !hasMore) return <Empty>Nothing has changed.</Empty>;
  return (
    <>
      <p role="status">
        {periodTitle(selection)}, as known {knownText(since)} → {selection.known}:{" "}
        <strong>
          {signedMoney(figuresOf(differences).net)} net, {count(changes)}
        </strong>
      </p>
      <Table
        label="Changed groups"
        columns={differenceColumns(changes, count)}
        rows={differencesIn(differences, groups)}
        empty="The changes add up to no difference."
      />
      <Table
        hasLinks
        label="Changes"
        columns={changeColumns(selection)}
        rows={changes}
        keyOf={({ transaction_id, event }) => `${event?.cursor} ${transaction_id}`}
      />
      {more}
    </>
  );
}

const periodTitle = ({ periodName, period }: Selection): string =>
  presets[periodName]?.title ??
  period?.bounds.map((bound) => (bound.length === 10 ? formatDay(bound) : bound)).join(" to ") ??
  "All time";

/** The number of events by which something has changed. An event can change a payment and what belongs to it. */
function eventCount(changes: Change[], hasMore: boolean): string {
  const { size } = new Set(changes.flatMap(({ event }) => event?.cursor ?? []));
  const events = `${formatCount(size)} ${size === 1 ? "event" : "events"}`;
  return hasMore ? `${events} or more` : events;
}

const measures = {
  count: "number",
  gross_amount: "amount",
  net_amount: "net",
  fee: "fees",
  refunded_amount: "refunded",
  amount: "amount without surcharge",
  total_amount: "total with surcharge",
};
type Measure = keyof typeof measures;
type Group = Pick<ReportGroup, Measure | "type" | "state">;

/** What differs. The parts of the amount are of interest if the amount is the same. */
const measuresOf = (group: Group) =>
  (Object.keys(measures) as Measure[]).filter(
    (name) =>
      Number(group[name]) !== 0 &&
      (Number(group.gross_amount) === 0 || !["amount", "total_amount"].includes(name)),
  );

const titleOf = ({ type, state }: Group): string =>
  [type && types.get(type), state && statusName(state)].filter(Boolean).join(" · ");

const signed = (value: number | bigint, format: (value: number | bigint) => string): string =>
  (value > 0 ? "+" : "") + format(value);
const signedMoney = (value: number | bigint) => signed(value, formatMoney);
const formatOf = (measure: Measure) => (measure === "count" ? formatCount : formatMoney);

/** One sum of a group that is not the same. */
interface Difference {
  title: string;
  measure: Measure;
  difference: bigint;
  now: bigint;
}

function differencesIn(differences: Group[], groups: Group[]): Difference[] {
  return differences.flatMap((group) => {
    const title = titleOf(group);
    const now = groups.find((one) => titleOf(one) === title);
    return measuresOf(group).map((measure) => {
      const difference = BigInt(group[measure]);
      return { title, measure, difference, now: BigInt(now?.[measure] ?? 0) };
    });
  });
}

const differenceColumns = (changes: Change[], count: (changes: Change[]) => string): Column<Difference>[] => [
  { name: "Group", isHeader: true, cell: ({ title, measure }) => `${title}: ${measures[measure]}` },
  {
    name: "Before → after",
    class: "number",
    cell: ({ measure, difference, now }) => {
      const format = formatOf(measure);
      return `${format(now - difference)} → ${format(now)}`;
    },
  },
  {
    name: "Difference",
    class: "number",
    cell: ({ title, measure, difference }) => {
      const own = changes.filter(({ groups }) =>
        groups.some((group) => titleOf(group) === title && Number(group[measure]) !== 0),
      );
      return `${signed(difference, formatOf(measure))}, ${count(own)}`;
    },
  },
];

const changeColumns = ({ accounts }: Selection): Column<Change>[] => [
  { name: "Happened", class: "short", cell: ({ event }) => event && <Time at={event.timestamp} isShort /> },
  {
    name: "Transaction",
    isHeader: true,
    cell: ({ transaction_id: id }) => (
      <a href={transactionLink(id, accounts.length === 1 ? accounts[0] : undefined)}>
        <Text>{id}</Text>
      </a>
    ),
  },
  {
    name: "Event",
    cell: ({ event }) => (event ? describeEvent(event.event_type) : "Other rules apply to its events."),
  },
  {
    name: "Changed",
    cell: ({ groups }) =>
      groups.map((group) => (
        <div key={titleOf(group)}>
          {titleOf(group)}:{" "}
          {measuresOf(group)
            .map((measure) => `${measures[measure]} ${signed(group[measure], formatOf(measure))}`)
            .join(", ")}
        </div>
      )),
  },
];
