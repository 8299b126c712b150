import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { eventTypes } from "../../../generated/ledger.event-types.ts";
import { formatJson, formatMoney, formatName } from "../format.ts";
import { detailOf, Empty } from "../load.tsx";
import { Time } from "../time.tsx";
import { cursorIn, type TransactionEvent } from "./ledger.ts";
import { State } from "./state.tsx";

interface EventPage {
  events: TransactionEvent[];
  _links?: { next_cursor?: { href: string } };
}

interface Props {
  /** The first page of the events, and the way to the others. */
  first: {
    events: TransactionEvent[];
    next: string | undefined;
    page: (cursor: string) => Promise<EventPage>;
  };
  /** What stands above the list, for the events that are shown. */
  children: (events: TransactionEvent[]) => ComponentChildren;
}

/** The events of a transaction and of its children, oldest first, with what happened in words. */
export function Timeline({ first, children }: Props) {
  const [more, setMore] = useState<{ events: TransactionEvent[]; next: string | undefined }>();
  const [problem, setProblem] = useState("");
  const events = [...first.events, ...(more?.events ?? [])];
  const next = more ? more.next : first.next;
  async function showMore(cursor: string) {
    try {
      const page = await first.page(cursor);
      setMore({ events: [...(more?.events ?? []), ...page.events], next: cursorIn(page._links) });
      setProblem("");
    } catch (error) {
      setProblem(detailOf(error));
    }
  }
  if (events.length === 0) return <Empty>There are no events.</Empty>;
  return (
    <>
      {children(events)}
      <ol class="timeline">
        {events.map((event) => (
          <Event key={String(event.event_id)} event={event} />
        ))}
      </ol>
      {problem && (
        <p class="notice failed" role="alert">
          More events could not be loaded: {problem}
        </p>
      )}
      {next !== undefined && (
        <button type="button" onClick={() => showMore(next)}>
          Show more events
        </button>
      )}
    </>
  );
}

const descriptions = new Map<string, string>(
  Object.values(eventTypes).flatMap((rows) =>
    rows.map(({ event_type, description }): [string, string] => [event_type, description]),
  ),
);

/** What an event says, as a sentence. An event type that the contract does not list has its name. */
export const describeEvent = (eventType: string): string =>
  descriptions.get(eventType) ?? `${formatName(eventType)}.`;

/** The members of an event's data that say who acted. */
const people = ["user_email", "refunded_by", "admin_github_id", "user_external_id"];
const amounts = [
  "amount",
  "total_amount",
  "fee",
  "net_amount",
  "refund_amount_refunded",
  "refund_amount_available",
];

function Event({
  event: { event_type, resource_type, timestamp, state, data },
}: {
  event: TransactionEvent;
}) {
  const person = people.map((name) => data[name]).find((value) => typeof value === "string");
  const entries = Object.entries(data);
  return (
    <li>
      <Time at={timestamp} />
      <p>
        {resource_type !== "PAYMENT" && <span class="kind">{formatName(resource_type)}</span>}{" "}
        {describeEvent(event_type)} {person !== undefined && <span class="person">By {String(person)}.</span>}{" "}
        {state && <State status={state.status} />}
      </p>
      {entries.length > 0 && (
        <details>
          <summary>{event_type}</summary>
          <dl class="facts">
            {entries.map(([name, value]) => (
              <div key={name}>
                <dt>{formatName(name)}</dt>
                <dd>{showValue(name, value)}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </li>
  );
}

function showValue(name: string, value: unknown): string {
  if (amounts.includes(name) && typeof value === "number" && Number.isInteger(value))
    return formatMoney(value);
  return typeof value === "object" && value !== null ? formatJson(value) : String(value);
}
