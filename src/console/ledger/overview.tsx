import { formatDifference, formatMinute, formatMoney } from "../format.ts";
import { Show, useKept } from "../load.tsx";
import { Heading } from "../view.tsx";
import { Attention } from "./attention.tsx";
import { useClient } from "./client.ts";
import { PaymentsChart } from "./payments-chart.tsx";
import { createdBetween, type Period } from "./periods.ts";
import { type Figures, figuresOf, readGroups } from "./reports.ts";
import { useAccounts, useFilters, useSelection } from "./selection.ts";

/** `#/`: the figures of a period against those before it, payments by day and state, and what needs attention. */
export const Overview = () => (
  <>
    <Heading>Overview</Heading>
    <PeriodFigures />
    <Attention />
    <PaymentsChart />
  </>
);

function PeriodFigures() {
  const client = useClient();
  const filters = useFilters();
  const accounts = useAccounts();
  const { period, live } = useSelection();
  const figures = useKept(`figures ${JSON.stringify(filters)}`, (signal) => {
    const read = async (created: object) => {
      const report = { ...accounts, live, ...created, group_by: ["type" as const, "state" as const] };
      return figuresOf(await readGroups(client, report, signal));
    };
    const before = period && createdBetween(period.before.from, period.before.to);
    return Promise.all([read(filters), before && read(before)]);
  });
  return (
    <Show of={figures} name="figures">
      {([now, before]) => <FigureList now={now} before={before} period={period} />}
    </Show>
  );
}

const titles = { received: "Received", refunded: "Refunded", fees: "Fees", net: "Net" };

interface FigureProps {
  now: Figures;
  before: Figures | undefined;
  period: Period | undefined;
}

const FigureList = ({ now, before, period }: FigureProps) => (
  <>
    <dl class="figures">
      {Object.entries(titles).map(([name, title]) => {
        const [value, valueBefore] = [now[name as keyof Figures], before?.[name as keyof Figures]];
        return (
          <div key={name}>
            <dt>{title}</dt>
            <dd>
              <strong>{formatMoney(value)}</strong>
              {valueBefore !== undefined && <span class="quiet">{changeOf(value, valueBefore)}</span>}
            </dd>
          </div>
        );
      })}
    </dl>
    <p class="quiet">
      Payments and refunds that succeeded. Net is received − refunded − fees
      {now.disputes !== 0n && `, and ${formatMoney(now.disputes)} of disputes`}.
      {period &&
        ` Compared with ${formatMinute(period.before.from.toISOString())} to ${formatMinute(period.before.to.toISOString())}.`}
    </p>
  </>
);

/** The change in per cent, with what it is compared with. Of nothing there is no share. */
function changeOf(now: bigint, before: bigint): string {
  if (before === 0n) return now === 0n ? "As before" : "Nothing before";
  const change = 100 * (Number(now) / Number(before) - 1);
  return `${formatDifference(change)} % from ${formatMoney(before)}`;
}
