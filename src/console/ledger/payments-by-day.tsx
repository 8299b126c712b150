import { useState } from "preact/hooks";
import type { LedgerComponents } from "../../client/client.ts";
import { BarChart } from "../bar-chart.tsx";
import { type Column, Details, Empty, Table } from "../elements.tsx";
import { formatCount, formatDay, formatMoney, formatRecentDay } from "../format.ts";
import { fragmentOf } from "../fragment.ts";
import { Show, useKept } from "../load.tsx";
import { type AccountsProps, useAccounts } from "./accounts.tsx";
import { useClient } from "./client.ts";
import { addDays, createdBetween, dayOf, daysBetween, reportZone, startOf } from "./periods.ts";
import { paymentStatuses, statusName } from "./state.tsx";

const daysShown = 30;

/** The payments of the last days: a chart by day and state, sums by state, and the numbers of each day. */
export function PaymentsByDay({ account }: AccountsProps) {
  const client = useClient();
  const accounts = useAccounts(account);
  const zone = reportZone();
  const now = new Date();
  const today = dayOf(now, zone);
  const first = addDays(today, 1 - daysShown);
  const report = useKept(`days ${account} ${today}`, (signal) => {
    const period = createdBetween(startOf(first, zone), startOf(addDays(today, 1), zone));
    return client.getTransactionReport(
      { ...accounts, ...period, group_by: ["day", "state"], time_zone: zone, transaction_type: "PAYMENT" },
      { signal },
    );
  });
  const fragmentOfStatus = (payment_states: string) =>
    fragmentOf(["transactions"], {
      account_id: account ?? undefined,
      payment_states,
      ...createdBetween(startOf(first, zone), now),
    });
  return (
    <>
      <h2>Payments of the last {daysShown} days</h2>
      <Show of={report} name="report">
        {({ groups }) =>
          groups.length === 0 ? (
            <Empty>
              No payment was created in this time. <a href="#/transactions">All transactions</a>
            </Empty>
          ) : (
            <>
              <DaysChart groups={groups} days={daysBetween(first, today)} />
              <Table
                label="Payments by state"
                columns={stateColumns(fragmentOfStatus)}
                rows={sumsByState(groups)}
                keyOf={({ state }) => state}
              />
              <Details summary={`Numbers of each day (${zone})`}>
                {() => <Table label="Payments by day and state" columns={dayColumns} rows={groups} />}
              </Details>
            </>
          )
        }
      </Show>
    </>
  );
}

type Group = LedgerComponents["schemas"]["TransactionReport"]["groups"][number];

/** The measures of the chart: both are numbers, which is exact enough for the height of a bar. */
const measures = {
  count: { name: "Number", of: ({ count }: Group) => count, format: formatCount },
  sum: {
    name: "Amount",
    of: ({ gross_amount }: Group) => Number(gross_amount),
    format: (pence: number) => formatMoney(Math.round(pence)),
  },
};

/** The states of these payments, in the order of a payment's life. */
const statesIn = (groups: Group[]) =>
  paymentStatuses.filter((status) => groups.some(({ state }) => state === status));

function DaysChart({ groups, days }: { groups: Group[]; days: string[] }) {
  const [measure, setMeasure] = useState<keyof typeof measures>("count");
  const { of, format, name } = measures[measure];
  const bars = days.map((day) => ({
    label: formatRecentDay(day),
    parts: Object.fromEntries(
      groups.filter((group) => group.day === day).map((group) => [group.state, of(group)]),
    ),
  }));
  return (
    <>
      <fieldset class="switch">
        <legend class="unseen">Measure</legend>
        {Object.entries(measures).map(([key, one]) => (
          <label key={key} class="check">
            <input
              type="radio"
              name="measure"
              checked={key === measure}
              onChange={() => setMeasure(key as keyof typeof measures)}
            />
            {one.name}
          </label>
        ))}
      </fieldset>
      <BarChart
        label={`${name} of payments by day and state; the table below has the numbers`}
        bars={bars}
        names={statesIn(groups)}
        format={format}
      />
    </>
  );
}

const sumsByState = (groups: Group[]) =>
  statesIn(groups).map((status) => {
    const own = groups.filter(({ state }) => state === status);
    return {
      state: status,
      count: own.reduce((sum, group) => sum + group.count, 0),
      gross_amount: own.reduce((sum, group) => sum + BigInt(group.gross_amount), 0n),
    };
  });

const sumColumns: Column<Pick<Group, "count" | "gross_amount">>[] = [
  { name: "Number", class: "number", cell: ({ count }) => formatCount(count) },
  { name: "Amount", class: "number", cell: ({ gross_amount }) => formatMoney(gross_amount) },
];

const stateColumns = (
  fragmentOfStatus: (status: string) => string,
): Column<ReturnType<typeof sumsByState>[number]>[] => [
  {
    name: "State",
    isHeader: true,
    cell: ({ state }) => (
      <>
        <span class={`key part-${state}`} /> <a href={fragmentOfStatus(state)}>{statusName(state)}</a>
      </>
    ),
  },
  ...sumColumns,
];

const dayColumns: Column<Group>[] = [
  { name: "Day", isHeader: true, cell: ({ day }) => day && formatDay(day) },
  { name: "State", cell: ({ state }) => state && statusName(state) },
  ...sumColumns,
];
