import { useState } from "preact/hooks";
import { Details } from "../details.tsx";
import { formatJson, formatMoney, formatName } from "../format.ts";
import { detailOf, Empty } from "../load.tsx";
import { Facts } from "../table.tsx";
import { Time } from "../time.tsx";
import { AsOf, isUpTo } from "./as-of.tsx";
import { describeEvent } from "./event-words.ts";
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
  /** The instant as of which the transaction is shown; undefined for now. */
  asOf: string | undefined;
  onAsOf: (instant: string | undefined) => void;
}

/** The events of a transaction and of its children, oldest first, each as a sentence. */
export function Timeline({ first, asOf, onAsOf }: Props) {
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
      <AsOf events={events} asOf={asOf} onChange={onAsOf} />
      <ol class="timeline">
        {events.map((event) => (
          <Event key={String(event.event_id)} event={event} isLater={!isUpTo(asOf, event)} />
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

interface EventProps {
  event: TransactionEvent;
  /** True if it is later than the instant as of which the transaction is shown. */
  isLater: boolean;
}

function Event({ event: { event_type, resource_type, timestamp, state, data }, isLater }: EventProps) {
  const person = people.map((name) => data[name]).find((value) => typeof value === "string");
  const entries = Object.entries(data);
  return (
    <li class={isLater ? "later" : undefined}>
      <Time at={timestamp} />
      <p>
        {resource_type !== "PAYMENT" && <span class="kind">{formatName(resource_type)}</span>}{" "}
        {describeEvent(event_type)} {person !== undefined && <span class="person">By {String(person)}.</span>}{" "}
        {state && <State status={state.status} />}
      </p>
      {entries.length > 0 && (
        <Details summary={event_type}>
          {() => <Facts facts={entries.map(([name, value]) => [formatName(name), showValue(name, value)])} />}
        </Details>
      )}
    </li>
  );
}

function showValue(name: string, value: unknown): string {
  if (amounts.includes(name) && typeof value === "number" && Number.isInteger(value))
    return formatMoney(value);
  return typeof value === "object" && value !== null ? formatJson(value) : String(value);
}
