import { formatCount, formatDifference, formatMoney, formatShare } from "../format.ts";
import type { Visit } from "../history.ts";
import { Show, useLoaded } from "../load.tsx";
import { useSession } from "../session.ts";
import { Table } from "../table.tsx";
import { type accountsOf, clientFor } from "./ledger.ts";
import { addDays, createdBetween, dayOf, startOf } from "./periods.ts";

interface Props {
  accounts: ReturnType<typeof accountsOf>;
  zone: string;
  visit: Visit;
  /** Distinguishes the accounts. */
  name: string;
}

interface Sums {
  count: number;
  amount: bigint;
  successful: number;
}

/** The payments of today until now, and those of the same day last week until the same time. */
export function Comparison({ accounts, zone, visit, name }: Props) {
  const session = useSession();
  const loaded = useLoaded(
    `comparison ${name}`,
    async (signal) => {
      const now = new Date();
      const today = startOf(dayOf(now, zone), zone);
      const weekAgo = startOf(addDays(dayOf(now, zone), -7), zone);
      const elapsedMs = now.getTime() - today.getTime();
      const sumsFrom = async (from: Date): Promise<Sums> => {
        const { groups } = await clientFor(session).getTransactionReport(
          {
            ...accounts,
            group_by: ["state"],
            transaction_type: "PAYMENT",
            ...createdBetween(from, new Date(from.getTime() + elapsedMs)),
          },
          { signal },
        );
        return {
          count: groups.reduce((sum, { count }) => sum + count, 0),
          amount: groups.reduce((sum, { gross_amount }) => sum + BigInt(gross_amount), 0n),
          successful: groups.find(({ state }) => state === "success")?.count ?? 0,
        };
      };
      const [current, before] = await Promise.all([sumsFrom(today), sumsFrom(weekAgo)]);
      return { current, before };
    },
    visit,
  );
  return (
    <Show of={loaded} name="comparison">
      {({ current, before }) => (
        <Table label="Today against the same day last week" head={columns}>
          <Row name="Payments" values={[current.count, before.count]} format={formatCount} />
          <Row
            name="Amount"
            values={[Number(current.amount), Number(before.amount)]}
            format={(_, index) => formatMoney(index === 0 ? current.amount : before.amount)}
          />
          <tr>
            <th scope="row">Successful</th>
            <td class="money">{formatShare(shareOf(current))}</td>
            <td class="money">{formatShare(shareOf(before))}</td>
            <td class="money">{formatDifference(100 * (shareOf(current) - shareOf(before)))} points</td>
          </tr>
        </Table>
      )}
    </Show>
  );
}

const shareOf = ({ successful, count }: Sums) => (count === 0 ? 0 : successful / count);

interface RowProps {
  name: string;
  values: [current: number, before: number];
  format: (value: number, index: number) => string;
}

const Row = ({ name, values: [current, before], format }: RowProps) => (
  <tr>
    <th scope="row">{name}</th>
    <td class="money">{format(current, 0)}</td>
    <td class="money">{format(before, 1)}</td>
    <td class="money">
      {before === 0 ? "–" : `${formatDifference(Math.round(100 * (current / before - 1)))} %`}
    </td>
  </tr>
);

const columns = (
  <>
    <th scope="col">
      <span class="unseen">Measure</span>
    </th>
    <th scope="col" class="money">
      Today
    </th>
    <th scope="col" class="money">
      Last week
    </th>
    <th scope="col" class="money">
      Change
    </th>
  </>
);
