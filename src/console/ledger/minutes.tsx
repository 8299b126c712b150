import { BarChart } from "../bar-chart.tsx";
import { type Column, Details, Table, Time } from "../elements.tsx";
import { formatClock, formatCount, formatDuration, formatName } from "../format.ts";
import type { IntakeReport } from "./client.ts";

type Minute = IntakeReport["minutes"][number];

const minuteMs = 60_000;
const outcomes = ["stored", "duplicate", "rebuilt", "retried", "dead_letter"] as const;

/** The messages of each minute of the last hour by outcome: a chart with its legend, and the numbers. */
export const Minutes = ({ minutes }: { minutes: Minute[] }) => (
  <>
    <BarChart
      label="Messages of each minute of the last hour by outcome; the table below has the numbers"
      bars={barsOf(minutes)}
      names={outcomes}
      format={formatCount}
    />
    <p class="legend">
      {outcomes.map((outcome) => (
        <span key={outcome}>
          <span class={`key part-${outcome}`} /> {formatName(outcome)}{" "}
        </span>
      ))}
    </p>
    <Details summary="Numbers of each minute">
      {() => <Table label="Messages of each minute" columns={columns} rows={minutes.toReversed()} />}
    </Details>
  </>
);

/** A bar for each minute of the last hour, also for those without messages. */
function barsOf(minutes: Minute[]) {
  const known = new Map(minutes.map((one) => [Date.parse(one.minute), one]));
  const last = Math.floor(Date.now() / minuteMs) * minuteMs;
  return Array.from({ length: 60 }, (_, index) => {
    const at = last - (59 - index) * minuteMs;
    const minute = known.get(at);
    return {
      label: formatClock(at),
      parts: Object.fromEntries(outcomes.map((outcome) => [outcome, minute?.[outcome] ?? 0])),
    };
  });
}

const lagOf = (milliseconds: number | null) => milliseconds !== null && formatDuration(milliseconds);

const columns: Column<Minute>[] = [
  { name: "Minute", isHeader: true, cell: ({ minute }) => <Time at={minute} /> },
  ...outcomes.map(
    (outcome): Column<Minute> => ({
      name: formatName(outcome),
      class: "number",
      cell: (minute) => formatCount(minute[outcome]),
    }),
  ),
  { name: "Average lag", class: "number", cell: ({ lag_ms_average }) => lagOf(lag_ms_average) },
  { name: "Greatest lag", class: "number", cell: ({ lag_ms_max }) => lagOf(lag_ms_max) },
];
