import { BarChart } from "../bar-chart.tsx";
import { type Column, Details, Table, Time } from "../elements.tsx";
import { formatClock, formatCount, formatDuration, formatName } from "../format.ts";
import type { IntakeReport } from "./client.ts";

type Minute = IntakeReport["minutes"][number];

const minuteMs = 60_000;
const outcomes = ["stored", "duplicate", "rebuilt", "retried", "dead_letter"] as const;

/** The messages of each minute by outcome, and their lag: two charts from the first minute that has some, and the numbers. */
export const Minutes = ({ minutes }: { minutes: Minute[] }) => (
  <>
    <h2>Messages a minute</h2>
    <BarChart
      label="Messages of each minute of the last hour by outcome; the table below has the numbers"
      bars={barsOf(minutes, (minute) => Object.fromEntries(outcomes.map((name) => [name, minute[name]])))}
      names={outcomes.filter((name) => minutes.some((minute) => minute[name] > 0))}
      format={formatCount}
    />
    <p class="legend">
      {outcomes.map((outcome) => (
        <span key={outcome}>
          <span class={`key part-${outcome}`} /> {formatName(outcome)}{" "}
        </span>
      ))}
    </p>
    <h2>Greatest lag</h2>
    <BarChart
      label="Greatest time from the sending of a message to its commit in each minute; the table below has the numbers"
      bars={barsOf(minutes, ({ lag_ms_max }) => ({ lag: lag_ms_max ?? 0 }))}
      names={["lag"]}
      format={formatDuration}
    />
    <Details summary="Numbers of each minute">
      {() => <Table label="Messages of each minute" columns={columns} rows={minutes.toReversed()} />}
    </Details>
  </>
);

/** A bar for each minute from the first one with messages until now, also for those without. */
function barsOf(minutes: Minute[], partsOf: (minute: Minute) => Record<string, number>) {
  const known = new Map(minutes.map((one) => [Date.parse(one.minute), one]));
  const [first = 0] = known.keys();
  const last = Math.floor(Date.now() / minuteMs) * minuteMs;
  return Array.from({ length: Math.max(1, (last - first) / minuteMs + 1) }, (_, index) => {
    const minute = known.get(first + index * minuteMs);
    return { label: formatClock(first + index * minuteMs), parts: minute ? partsOf(minute) : {} };
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
