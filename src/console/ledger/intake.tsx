import { useEffect } from "preact/hooks";
import { type Bar, BarChart } from "../bar-chart.tsx";
import { Details } from "../details.tsx";
import { formatClock, formatCount, formatDuration, formatName } from "../format.ts";
import { fragmentOf } from "../fragment.ts";
import { Empty, Show, useLoaded } from "../load.tsx";
import { Heading, type ViewProps } from "../page.tsx";
import { Pages } from "../pages.tsx";
import { useSession } from "../session.ts";
import { Facts, Table } from "../table.tsx";
import { Time } from "../time.tsx";
import { DeadLetter } from "./dead-letter.tsx";
import { clientFor, cursorIn } from "./ledger.ts";

const refreshMs = 5000;
const outcomes = ["stored", "duplicate", "rebuilt", "retried", "dead_letter"] as const;

/** `#/intake` is the intake with its dead letters, `#/intake/NUMBER` a dead letter. */
export const Intake = (props: ViewProps) =>
  props.place.path.length > 1 ? (
    <DeadLetter id={props.place.path[1] ?? ""} />
  ) : (
    <>
      <Heading>Intake</Heading>
      <Rates />
      <DeadLetters {...props} />
    </>
  );

/** The numbers of the intake, which are read again while the page is visible. */
function Rates() {
  const session = useSession();
  const intake = useLoaded("intake", (signal) => clientFor(session).getIntake({}, { signal }));
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible" && intake.status !== "loading") intake.reload();
    }, refreshMs);
    return () => clearInterval(timer);
  });
  return (
    <Show of={intake} name="intake">
      {({ messages_waiting, open_dead_letters, minutes, publishing = [] }) => {
        const latest = minutes.at(-1);
        return (
          <>
            <Facts
              facts={[
                [
                  "Messages in the queue",
                  messages_waiting === null
                    ? "Unknown: the queue cannot be reached"
                    : formatCount(messages_waiting),
                ],
                ["Open dead letters", formatCount(open_dead_letters)],
                [
                  "Events stored in the last hour",
                  formatCount(minutes.reduce((sum, { stored }) => sum + stored, 0)),
                ],
                ["Latest minute", latest && <Time at={latest.minute} />],
                ["Rate in that minute", latest && `${formatCount(latest.stored)} events`],
                [
                  "Lag in that minute",
                  latest?.lag_ms_average !== null &&
                    latest?.lag_ms_average !== undefined &&
                    `${formatDuration(latest.lag_ms_average)} on average, ${formatDuration(latest.lag_ms_max ?? 0)} at most`,
                ],
              ]}
            />
            {minutes.length === 0 ? (
              <Empty>No message arrived in the last hour.</Empty>
            ) : (
              <>
                <BarChart
                  label="Messages of each minute of the last hour by outcome; the table below has the numbers"
                  bars={barsOf(minutes)}
                  names={[...outcomes]}
                  format={formatCount}
                />
                <p class="legend">
                  {outcomes.map((outcome) => (
                    <span key={outcome}>
                      <span class={`key part-${outcome}`} /> {formatName(outcome)}{" "}
                    </span>
                  ))}
                </p>
                <Minutes minutes={minutes} />
              </>
            )}
            {publishing.length > 0 && <Targets targets={publishing} />}
          </>
        );
      }}
    </Show>
  );
}

type IntakeReport = Awaited<ReturnType<ReturnType<typeof clientFor>["getIntake"]>>;
type Minute = IntakeReport["minutes"][number];

const minuteMs = 60_000;

/** A bar for each minute of the last hour, also for those without messages. */
function barsOf(minutes: Minute[]): Bar[] {
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

const Minutes = ({ minutes }: { minutes: Minute[] }) => (
  <Details summary="Numbers of each minute">
    {() => (
      <Table
        label="Messages of each minute"
        head={
          <>
            <th scope="col">Minute</th>
            {outcomes.map((outcome) => (
              <th scope="col" class="money" key={outcome}>
                {formatName(outcome)}
              </th>
            ))}
            <th scope="col" class="money">
              Average lag
            </th>
            <th scope="col" class="money">
              Greatest lag
            </th>
          </>
        }
      >
        {minutes.toReversed().map((minute) => (
          <tr key={minute.minute}>
            <th scope="row">
              <Time at={minute.minute} />
            </th>
            {outcomes.map((outcome) => (
              <td class="money" key={outcome}>
                {formatCount(minute[outcome])}
              </td>
            ))}
            <td class="money">{minute.lag_ms_average !== null && formatDuration(minute.lag_ms_average)}</td>
            <td class="money">{minute.lag_ms_max !== null && formatDuration(minute.lag_ms_max)}</td>
          </tr>
        ))}
      </Table>
    )}
  </Details>
);

/** The targets to which events are published, and the events that wait for another attempt. */
function Targets({ targets }: { targets: NonNullable<IntakeReport["publishing"]> }) {
  const waiting = targets.flatMap(({ target, waiting }) => waiting.map((event) => ({ target, ...event })));
  return (
    <>
      <h2>Targets of published events</h2>
      <Table label="Targets" head={targetColumns}>
        {targets.map(({ target, message, behind_ms, deferred }) => (
          <tr key={target}>
            <th scope="row">{target}</th>
            <td>{message}</td>
            <td class="money">{formatDuration(Number(behind_ms))}</td>
            <td class="money">{formatCount(deferred)}</td>
          </tr>
        ))}
      </Table>
      {waiting.length > 0 && (
        <Table label="Events that wait for another attempt" head={waitingColumns}>
          {waiting.map((event) => (
            <tr key={`${event.target} ${event.event_id}`}>
              <th scope="row">{String(event.event_id)}</th>
              <td>
                {formatName(event.resource_type)} {event.resource_external_id}
              </td>
              <td>{event.target}</td>
              <td>{event.reason}</td>
              <td class="money">{formatCount(event.attempts)}</td>
              <td>
                <Time at={event.next_attempt_date} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

const targetColumns = (
  <>
    <th scope="col">Target</th>
    <th scope="col">State</th>
    <th scope="col" class="money">
      Behind
    </th>
    <th scope="col" class="money">
      Waiting events
    </th>
  </>
);

const waitingColumns = (
  <>
    <th scope="col">Event</th>
    <th scope="col">Resource</th>
    <th scope="col">Target</th>
    <th scope="col">Reason</th>
    <th scope="col" class="money">
      Attempts
    </th>
    <th scope="col">Next attempt</th>
  </>
);

function DeadLetters({ place: { parameters }, visit }: ViewProps) {
  const session = useSession();
  const state = parameters.get("state") === "discarded" ? "discarded" : "open";
  const cursor = parameters.get("cursor") ?? undefined;
  const letters = useLoaded(
    `dead letters ${state} ${cursor}`,
    (signal) =>
      clientFor(session).listDeadLetters(
        { state, display_size: 50, ...(cursor !== undefined && { cursor }) },
        { signal },
      ),
    visit,
  );
  return (
    <>
      <h2>Dead letters</h2>
      <p>
        These messages can never be stored, and these events were rejected by a target to which they are
        published. The command <code>npm run dead-letters</code> replays and discards them.{" "}
        {state === "open" ? (
          <a href="#/intake?state=discarded">Show discarded ones</a>
        ) : (
          <a href="#/intake">Show open ones</a>
        )}
      </p>
      <Show of={letters} name="dead letters">
        {({ dead_letters, _links }) =>
          dead_letters.length === 0 ? (
            <Empty>There are no {state} dead letters.</Empty>
          ) : (
            <>
              <Table label="Dead letters" head={columns}>
                {dead_letters.map(({ dead_letter_id: id, created_date, reason, note }) => (
                  <tr key={String(id)}>
                    <td>
                      <Time at={created_date} />
                    </td>
                    <th scope="row">
                      <a href={fragmentOf(["intake", String(id)])}>{String(id)}</a>
                    </th>
                    <td>
                      {reason}
                      {note !== null && <span class="person"> Discarded: {note}</span>}
                    </td>
                  </tr>
                ))}
              </Table>
              <Pages
                fragmentOfPage={(next) =>
                  fragmentOf(["intake"], { state: state === "open" ? undefined : state, cursor: next })
                }
                current={cursor}
                next={cursorIn(_links)}
              />
            </>
          )
        }
      </Show>
    </>
  );
}

const columns = (
  <>
    <th scope="col">Created</th>
    <th scope="col">Number</th>
    <th scope="col">Reason</th>
  </>
);
