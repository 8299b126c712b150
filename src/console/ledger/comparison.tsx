import type { LedgerClient } from "../../client/client.ts";
import { type Column, Table } from "../elements.tsx";
import { formatCount, formatDifference, formatMoney, formatShare } from "../format.ts";
import { Show, useKept } from "../load.tsx";
import { type AccountsProps, useAccounts } from "./accounts.tsx";
import { type Search, useClient } from "./client.ts";
import { addDays, createdBetween, dayOf, reportZone, startOf } from "./periods.ts";

/** The payments of today until now, and those of the same day last week until the same time. */
export function Comparison({ account }: AccountsProps) {
  const client = useClient();
  const accounts = useAccounts(account);
  const zone = reportZone();
  const loaded = useKept(`comparison ${account}`, (signal) => {
    const now = new Date();
    const today = dayOf(now, zone);
    const elapsedMs = now.getTime() - startOf(today, zone).getTime();
    const read = (day: string) => {
      const start = startOf(day, zone);
      const period = createdBetween(start, new Date(start.getTime() + elapsedMs));
      return readSums(client, { ...accounts, ...period }, signal);
    };
    return Promise.all([read(today), read(addDays(today, -7))]);
  });
  return (
    <Show of={loaded} name="comparison">
      {([today, before]) => (
        <Table label="Today against the same day last week" columns={columns} rows={rowsOf(today, before)} />
      )}
    </Show>
  );
}

type Sums = Awaited<ReturnType<typeof readSums>>;

/** The sums of the payments of these accounts and this period, and the share of payments that succeeded. */
async function readSums(client: LedgerClient, search: Search, signal: AbortSignal) {
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

type Row = [measure: string, today: string, lastWeek: string, change: string];

const rowsOf = (today: Sums, before: Sums): Row[] => [
  ["Payments", formatCount(today.count), formatCount(before.count), changeOf(today.count, before.count)],
  ["Amount", formatMoney(today.amount), formatMoney(before.amount), changeOf(today.amount, before.amount)],
  [
    "Successful",
    formatShare(today.successful),
    formatShare(before.successful),
    `${formatDifference(100 * (today.successful - before.successful))} points`,
  ],
];

const changeOf = (today: number | bigint, before: number | bigint) =>
  Number(before) === 0
    ? "–"
    : `${formatDifference(Math.round(100 * (Number(today) / Number(before) - 1)))} %`;

const columns: Column<Row>[] = [
  { name: "Measure", isUnseen: true, isHeader: true, cell: ([measure]) => measure },
  { name: "Today", class: "number", cell: ([, today]) => today },
  { name: "Last week", class: "number", cell: ([, , lastWeek]) => lastWeek },
  { name: "Change", class: "number", cell: ([, , , change]) => change },
];
