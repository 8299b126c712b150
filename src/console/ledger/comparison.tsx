import type { LedgerClient } from "../../client/client.ts";
import { formatCount, formatDifference, formatMoney, formatShare } from "../format.ts";
import { Show, useKept } from "../load.tsx";
import { type Column, Table } from "../table.tsx";
import { type AccountsProps, useAccounts } from "./accounts.tsx";
import { type Search, useClient } from "./client.ts";
import { addDays, createdBetween, dayOf, reportZone, startOf } from "./periods.ts";

/** The payments of today until now, and those of the same day last week until the same time. */
export function Comparison({ account }: AccountsProps) {
  const client = useClient();
  const accounts = useAccounts(account);
  const zone = reportZone();
  const loaded = useKept(`comparison ${account}`, async (signal) => {
    const now = new Date();
    const today = dayOf(now, zone);
    const elapsedMs = now.getTime() - startOf(today, zone).getTime();
    const read = (day: string) => {
      const start = startOf(day, zone);
      const period = createdBetween(start, new Date(start.getTime() + elapsedMs));
      return readSums(client, { ...accounts, ...period }, signal);
    };
    const [current, before] = await Promise.all([read(today), read(addDays(today, -7))]);
    return { current, before };
  });
  return (
    <Show of={loaded} name="comparison">
      {({ current, before }) => (
        <Table
          label="Today against the same day last week"
          columns={columnsOf(current, before)}
          rows={measures}
          keyOf={({ name }) => name}
        />
      )}
    </Show>
  );
}

interface Sums {
  count: number;
  amount: bigint;
  /** The share of payments that succeeded. */
  successful: number;
}

/** The sums of the payments of these accounts and this period. */
async function readSums(client: LedgerClient, search: Search, signal: AbortSignal): Promise<Sums> {
  const { groups } = await client.getTransactionReport(
    { ...search, group_by: ["state"], transaction_type: "PAYMENT" },
    { signal },
  );
  const count = groups.reduce((sum, group) => sum + group.count, 0);
  return {
    count,
    amount: groups.reduce((sum, { gross_amount }) => sum + BigInt(gross_amount), 0n),
    successful: count && (groups.find(({ state }) => state === "success")?.count ?? 0) / count,
  };
}

interface Measure {
  name: string;
  of: (sums: Sums) => string;
  change: (current: Sums, before: Sums) => string;
}

const changeOf = (current: number, before: number) =>
  before === 0 ? "–" : `${formatDifference(Math.round(100 * (current / before - 1)))} %`;

const measures: Measure[] = [
  {
    name: "Payments",
    of: ({ count }) => formatCount(count),
    change: (current, before) => changeOf(current.count, before.count),
  },
  {
    name: "Amount",
    of: ({ amount }) => formatMoney(amount),
    change: (current, before) => changeOf(Number(current.amount), Number(before.amount)),
  },
  {
    name: "Successful",
    of: ({ successful }) => formatShare(successful),
    change: (current, before) => `${formatDifference(100 * (current.successful - before.successful))} points`,
  },
];

const columnsOf = (current: Sums, before: Sums): Column<Measure>[] => [
  { name: "Measure", isUnseen: true, isHeader: true, cell: ({ name }) => name },
  { name: "Today", class: "number", cell: ({ of }) => of(current) },
  { name: "Last week", class: "number", cell: ({ of }) => of(before) },
  { name: "Change", class: "number", cell: ({ change }) => change(current, before) },
];
