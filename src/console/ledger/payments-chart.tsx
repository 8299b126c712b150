import { useState } from "preact/hooks";
import { BarChart } from "../bar-chart.tsx";
import { type Column, Details, Table } from "../elements.tsx";
import { type Options, Select } from "../form.tsx";
import { formatCount, formatDay, formatMoney, formatMonth, formatRecentDay, formatShare } from "../format.ts";
import { Show, useKept } from "../load.tsx";
import { type ReportGroup, useClient } from "./client.ts";
import { NothingFound } from "./nothing-found.tsx";
import { addDays, addMonths, dayOf } from "./periods.ts";
import { readReport } from "./reports.ts";
import { linkTo, parametersOf, type Selection, useFilters, useSelection } from "./selection.ts";
import { paymentStatuses, statusName } from "./state.tsx";

/** How long a bar is: the step to the next one, and its name. */
const units = {
  day: { next: (day: string) => addDays(day, 1), format: formatRecentDay, days: 1 },
  week: { next: (day: string) => addDays(day, 7), format: formatRecentDay, days: 7 },
  month: { next: (day: string) => addMonths(day, 1), format: formatMonth, days: 30 },
};
type Unit = keyof typeof units;

/** More bars than these are not readable. */
const barsMax = 62;

/** The units that a selection allows, and the one that is shown first. */
function unitsFor({ period }: Selection): { allowed: Unit[]; usual: Unit } {
  if (!period) return { allowed: ["month"], usual: "month" };
  const days = (period.to.getTime() - period.from.getTime()) / 86_400_000;
  const allowed = (Object.keys(units) as Unit[]).filter((unit) => days / units[unit].days <= barsMax);
  const [usual = "month"] = allowed;
  return { allowed: allowed.length > 0 ? allowed : ["month"], usual };
}

/** The payments of the period: a chart, the sums of each state, and the numbers of each bar. */
export function PaymentsChart() {
  const client = useClient();
  const selection = useSelection();
  const filters = useFilters();
  const { allowed, usual } = unitsFor(selection);
  const [chosen, setUnit] = useState<Unit>(usual);
  const unit = allowed.includes(chosen) ? chosen : usual;
  const report = useKept(`payments ${unit} ${selection.zone} ${JSON.stringify(filters)}`, async (signal) => {
    const group_by = [unit, "state" as const];
    const { groups } = await readReport(
      client,
      { ...filters, group_by, time_zone: selection.zone, transaction_type: "PAYMENT" },
      signal,
    );
    return { groups, unit };
  });
  return (
    <>
      <h2>Payments</h2>
      <Show of={report} name="payments">
        {({ groups, unit }) =>
          groups.length === 0 ? (
            <NothingFound thing="payment" path={[]} />
          ) : (
            <>
              <Chart groups={groups} unit={unit} units={allowed} onUnit={setUnit} />
              <Table
                label="Payments by state"
                columns={stateColumns(selection)}
                rows={sumsByState(groups)}
                keyOf={({ state }) => state}
              />
              <Details summary={`Numbers of each ${unit}`}>
                {() => (
                  <Table label={`Payments by ${unit} and state`} columns={barColumns(unit)} rows={groups} />
                )}
              </Details>
            </>
          )
        }
      </Show>
    </>
  );
}

interface ChartProps {
  groups: ReportGroup[];
  unit: Unit;
  units: Unit[];
  onUnit: (unit: Unit) => void;
}

const measures = {
  received: {
    states: ["success"],
    of: ({ gross_amount }: ReportGroup) => Number(gross_amount),
    format: (amount: number) => formatMoney(Math.round(amount)),
  },
  number: {
    states: paymentStatuses as string[],
    of: ({ count }: ReportGroup) => count,
    format: formatCount,
  },
};
type Measure = keyof typeof measures;
const measureTitles = { received: "Received", number: "Number" };

/** Both measures are numbers, which is exact enough for the height of a bar. */
function Chart({ groups, unit, units: allowed, onUnit }: ChartProps) {
  const [measure, setMeasure] = useState<Measure>("received");
  const { states, of, format } = measures[measure];
  const { period, zone } = useSelection();
  const unitTitles = Object.fromEntries(allowed.map((one) => [one, one])) as Options<Unit>;
  const bars = startsOf(groups, unit, period && [dayOf(period.from, zone), dayOf(period.to, zone)]).map(
    (start) => ({
      label: units[unit].format(start),
      parts: Object.fromEntries(
        groups.filter((group) => group[unit] === start).map((group) => [group.state, of(group)]),
      ),
    }),
  );
  return (
    <>
      <div class="selects">
        <Select label="Show" value={measure} options={measureTitles} onChange={setMeasure} />
        <Select label="By" value={unit} options={unitTitles} onChange={onUnit} />
      </div>
      <BarChart
        label={`${measureTitles[measure]} of payments by ${unit}; the table below has the numbers`}
        bars={bars}
        names={paymentStatuses.filter(
          (status) => states.includes(status) && groups.some(({ state }) => state === status),
        )}
        format={format}
      />
    </>
  );
}

/** More bars without payments than these are left out: the ledger has payments of any year between 1 and 9999. */
const filledMax = 1000;

/** The first days of all bars: of the period until today, else from the first group to the last one. */
function startsOf(groups: ReportGroup[], unit: Unit, days: [string, string] | undefined): string[] {
  const known = [...new Set(groups.flatMap((group) => group[unit] ?? []))].toSorted();
  let [first = "", last = ""] = [known[0], known.at(-1)];
  if (unit === "day" && days) {
    first = days[0];
    last = [addDays(days[1], -1), last].toSorted().at(-1) ?? last;
  }
  const starts: string[] = [];
  for (let start = first; start <= last; start = units[unit].next(start)) {
    starts.push(start);
    if (starts.length > filledMax) return known;
  }
  return starts;
}

interface StateSum {
  state: (typeof paymentStatuses)[number];
  count: number;
  share: number;
  gross_amount: bigint;
}

function sumsByState(groups: ReportGroup[]): StateSum[] {
  const total = groups.reduce((sum, { count }) => sum + count, 0);
  return paymentStatuses.flatMap((state) => {
    const own = groups.filter((group) => group.state === state);
    const count = own.reduce((sum, group) => sum + group.count, 0);
    const gross_amount = own.reduce((sum, group) => sum + BigInt(group.gross_amount), 0n);
    return own.length > 0 ? [{ state, count, share: count / total, gross_amount }] : [];
  });
}

const sumColumns: Column<{ count: number; gross_amount: number | bigint }>[] = [
  { name: "Payments", class: "number", cell: ({ count }) => formatCount(count) },
  { name: "Amount", class: "number", cell: ({ gross_amount }) => formatMoney(gross_amount) },
];

const stateColumns = (selection: Selection): Column<StateSum>[] => [
  {
    name: "State",
    isHeader: true,
    cell: ({ state }) => (
      <>
        <span class={`key part-${state}`} />{" "}
        <a href={linkTo(["transactions"], { ...parametersOf(selection), payment_states: state })}>
          {statusName(state)}
        </a>
      </>
    ),
  },
  { name: "Share", class: "number", cell: ({ share }) => formatShare(share) },
  ...sumColumns,
];

const barColumns = (unit: Unit): Column<ReportGroup>[] => [
  { name: "From", isHeader: true, cell: (group) => formatDay(group[unit] ?? "") },
  { name: "State", cell: ({ state }) => state && statusName(state) },
  ...sumColumns,
];
