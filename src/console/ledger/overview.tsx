import { CopyButton } from "../elements.tsx";
import { formatDifference, formatMinute, formatMoney } from "../format.ts";
import type { Place } from "../fragment.ts";
import { Show, useKept } from "../load.tsx";
import { Heading } from "../view.tsx";
import { Attention } from "./attention.tsx";
import { Changes } from "./changes.tsx";
import { useClient } from "./client.ts";
import { PaymentsChart } from "./payments-chart.tsx";
import { createdBetween, type Period } from "./periods.ts";
import { type Figures, figuresOf, readReport } from "./reports.ts";
import { useAccounts, useFilters, useSelection } from "./selection.ts";

/**
 * `#/`: the figures of a period against those before it, payments by day and state, what needs attention, and what has
 * changed since the period was reported.
 */
export const Overview = (place: Place) => (
  <>
    <Heading>Overview</Heading>
    <PeriodFigures />
    <Attention />
    <PaymentsChart />
    <Changes place={place} report={useFilters()} />
  </>
);

function PeriodFigures() {
  const client = useClient();
  const filters = useFilters();
  const accounts = useAccounts();
  const { period, live, knownAt: known_at } = useSelection();
  const figures = useKept(`figures ${JSON.stringify(filters)}`, (signal) => {
    const read = async (created: object) => {
      const report = {
        ...accounts,
        live,
        known_at,
        ...created,
        group_by: ["type" as const, "state" as const],
      };
      const { groups, position } = await readReport(client, report, signal);
      return { figures: figuresOf(groups), position };
    };
    const before = period && createdBetween(period.before.from, period.before.to);
    return Promise.all([read(filters), before && read(before)]);
  });
  return (
    <Show of={figures} name="figures">
      {([{ figures: now, position }, before]) => (
        <>
          <FigureList now={now} before={before?.figures} period={period} />
          {position && <CopyButton text={position}>Copy position</CopyButton>}
        </>
      )}
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
