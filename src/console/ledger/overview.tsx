import { useState } from "preact/hooks";
import { type Bar, BarChart } from "../bar-chart.tsx";
import { Details } from "../details.tsx";
import { formatCount, formatDay, formatMoney, formatRecentDay } from "../format.ts";
import { fragmentOf } from "../fragment.ts";
import { goTo } from "../history.ts";
import { Empty, Show, useLoaded } from "../load.tsx";
import { Heading, type ViewProps } from "../page.tsx";
import { useSession } from "../session.ts";
import { Table } from "../table.tsx";
import { Comparison } from "./comparison.tsx";
import { accountsOf, clientFor, paymentStatuses } from "./ledger.ts";
import { PayoutList } from "./payout-list.tsx";
import { addDays, createdBetween, dayOf, daysBetween, reportZone, startOf } from "./periods.ts";
import { statusName } from "./state.tsx";

const daysShown = 30;

/** `#/`: payments by day and state, today against last week, and payouts that do not add up. */
export function Overview({ place: { parameters }, visit }: ViewProps) {
  const session = useSession();
  const account = parameters.get("account_id");
  const accounts = accountsOf(account, session);
  const zone = reportZone();
  const now = new Date();
  const today = dayOf(now, zone);
  const first = addDays(today, 1 - daysShown);
  const report = useLoaded(
    `days ${account} ${today}`,
    async (signal) => {
      const { groups } = await clientFor(session).getTransactionReport(
        {
          ...accounts,
          group_by: ["day", "state"],
          time_zone: zone,
          transaction_type: "PAYMENT",
          ...createdBetween(startOf(first, zone), startOf(addDays(today, 1), zone)),
        },
        { signal },
      );
      return groups;
    },
    visit,
  );
  return (
    <>
      <Heading>Overview</Heading>
      <AccountForm account={account} />
      <h2>Payments of the last {daysShown} days</h2>
      <Show of={report} name="report">
        {(groups) =>
          groups.length === 0 ? (
            <Empty>
              No payment was created in this time. <a href="#/transactions">All transactions</a>
            </Empty>
          ) : (
            <Days groups={groups} days={daysBetween(first, today)} zone={zone} now={now} account={account} />
          )
        }
      </Show>
      <h2>Today against the same day last week</h2>
      <Comparison accounts={accounts} zone={zone} visit={visit} name={account ?? ""} />
      <h2>Payouts that do not add up</h2>
      <PayoutList accounts={accounts} key={account} />
    </>
  );
}

function AccountForm({ account }: { account: string | null }) {
  const { accounts } = useSession();
  const choose = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    goTo(fragmentOf([], { account_id: String(form.get("account_id")).trim() }));
  };
  return (
    <form class="search" onSubmit={choose} key={account}>
      <div class="fields">
        <label>
          Accounts
          <input
            name="account_id"
            defaultValue={account ?? ""}
            placeholder={accounts ? "All of the token" : "All"}
          />
        </label>
        <button type="submit">Show</button>
      </div>
    </form>
  );
}

interface Group {
  day?: string;
  state?: string;
  count: number;
  gross_amount: bigint;
}

interface DaysProps {
  groups: Group[];
  days: string[];
  zone: string;
  now: Date;
  account: string | null;
}

/** The measures of the chart: both are numbers, which is exact enough for the height of a bar. */
const measures = {
  count: { name: "Number", of: ({ count }: Group) => count, format: formatCount },
  sum: {
    name: "Amount",
    of: ({ gross_amount }: Group) => Number(gross_amount),
    format: (pence: number) => formatMoney(Math.round(pence)),
  },
};

function Days({ groups, days, zone, now, account }: DaysProps) {
  const [measure, setMeasure] = useState<keyof typeof measures>("count");
  const { of, format, name } = measures[measure];
  const states = paymentStatuses.filter((status) => groups.some(({ state }) => state === status));
  const bars: Bar[] = days.map((day) => ({
    label: formatRecentDay(day),
    parts: Object.fromEntries(
      groups.filter((group) => group.day === day).map((group) => [group.state ?? "", of(group)]),
    ),
  }));
  const totals = states.map((status) => {
    const own = groups.filter(({ state }) => state === status);
    return {
      status,
      count: own.reduce((sum, group) => sum + group.count, 0),
      amount: own.reduce((sum, group) => sum + BigInt(group.gross_amount), 0n),
    };
  });
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
        names={[...states]}
        format={format}
      />
      <Table label="Payments by state" head={stateColumns}>
        {totals.map(({ status, count, amount }) => (
          <tr key={status}>
            <th scope="row">
              <span class={`key part-${status}`} />{" "}
              <a
                href={fragmentOf(["transactions"], {
                  account_id: account ?? "",
                  payment_states: status,
                  ...createdBetween(startOf(days[0] as string, zone), now),
                })}
              >
                {statusName(status)}
              </a>
            </th>
            <td class="money">{formatCount(count)}</td>
            <td class="money">{formatMoney(amount)}</td>
          </tr>
        ))}
      </Table>
      <Details summary={`Numbers of each day (${zone})`}>
        {() => (
          <Table label="Payments by day and state" head={dayColumns}>
            {groups.map((group) => (
              <tr key={`${group.day} ${group.state}`}>
                <th scope="row">{group.day && formatDay(group.day)}</th>
                <td>{group.state && statusName(group.state)}</td>
                <td class="money">{formatCount(group.count)}</td>
                <td class="money">{formatMoney(group.gross_amount)}</td>
              </tr>
            ))}
          </Table>
        )}
      </Details>
    </>
  );
}

const stateColumns = (
  <>
    <th scope="col">State</th>
    <th scope="col" class="money">
      Number
    </th>
    <th scope="col" class="money">
      Amount
    </th>
  </>
);
const dayColumns = (
  <>
    <th scope="col">Day</th>
    {stateColumns.props.children}
  </>
);
