import { useEffect } from "preact/hooks";
import { Empty, Facts, Time } from "../elements.tsx";
import { formatCount, formatDuration } from "../format.ts";
import type { Place } from "../fragment.ts";
import { Show, useLoaded } from "../load.tsx";
import { Heading } from "../view.tsx";
import { type IntakeReport, useClient } from "./client.ts";
import { DeadLetter } from "./dead-letter.tsx";
import { DeadLetters } from "./dead-letters.tsx";
import { Minutes } from "./minutes.tsx";
import { Targets } from "./targets.tsx";

const refreshMs = 5000;

/** `#/intake` is the intake with its dead letters, `#/intake/NUMBER` a dead letter. */
export const Intake = (place: Place) =>
  place.path.length > 1 ? (
    <DeadLetter id={place.path[1] ?? ""} />
  ) : (
    <>
      <Heading>Intake</Heading>
      <Report />
      <DeadLetters {...place} />
    </>
  );

/** The report on the intake, which is read again while the page is visible. */
function Report() {
  const client = useClient();
  const report = useLoaded("intake", (signal) => client.getIntake({}, { signal }));
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible" && !report.isLoading) report.reload();
    }, refreshMs);
    return () => clearInterval(timer);
  });
  return (
    <Show of={report} name="intake">
      {(found) => (
        <>
          <Summary report={found} />
          {found.minutes.length === 0 ? (
            <Empty>No message arrived in the last hour.</Empty>
          ) : (
            <Minutes minutes={found.minutes} />
          )}
          {found.publishing && found.publishing.length > 0 && <Targets targets={found.publishing} />}
        </>
      )}
    </Show>
  );
}

function Summary({ report: { messages_waiting, open_dead_letters, minutes } }: { report: IntakeReport }) {
  const latest = minutes.at(-1);
  const { lag_ms_average = null, lag_ms_max } = latest ?? {};
  const stored = minutes.reduce((sum, minute) => sum + minute.stored, 0);
  return (
    <Facts
      facts={[
        [
          "Messages in the queue",
          messages_waiting === null ? "Unknown: the queue cannot be reached" : formatCount(messages_waiting),
        ],
        ["Open dead letters", formatCount(open_dead_letters)],
        ["Events stored in the last hour", formatCount(stored)],
        ["Latest minute", latest && <Time at={latest.minute} />],
        ["Rate in that minute", latest && `${formatCount(latest.stored)} events`],
        [
          "Lag in that minute",
          lag_ms_average !== null &&
            `${formatDuration(lag_ms_average)} on average, ${formatDuration(lag_ms_max ?? 0)} at most`,
        ],
      ]}
    />
  );
}
