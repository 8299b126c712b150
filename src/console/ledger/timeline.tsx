import type { LedgerClient } from "../../client/client.ts";
import { Details, Empty, Facts, Time } from "../elements.tsx";
import { formatJson, formatMoney, formatName } from "../format.ts";
import { replacePlace } from "../history.ts";
import { AsOf, isUpTo } from "./as-of.tsx";
import type { TransactionEvent } from "./client.ts";
import { describeEvent } from "./event-words.ts";
import { transactionLink } from "./links.ts";
import { useMore } from "./more.tsx";
import { State } from "./state.tsx";

type EventPage = Awaited<ReturnType<LedgerClient["listTransactionEvents"]>>;

interface Props {
  id: string;
  account: string | undefined;
  /** The instant as of which the transaction is shown; undefined for now. */
  asOf: string | undefined;
  first: EventPage;
  readPage: (cursor: string) => Promise<EventPage>;
}

/** The events of a transaction and of its children, oldest first, each as a sentence; more pages on request. */
export function Timeline({ id, account, asOf, first, readPage }: Props) {
  const { pages, more } = useMore("events", first, readPage);
  const events = pages.flatMap((page) => page.events);
  return (
    <>
      <h2>Timeline</h2>
      {events.length === 0 && <Empty>There are no events.</Empty>}
      <AsOf
        events={events}
        asOf={asOf}
        onChange={(instant) => replacePlace(transactionLink(id, account, instant))}
      />
      <ol class="timeline">
        {events.map((event) => (
          <Event key={String(event.event_id)} event={event} isLater={!isUpTo(asOf, event)} />
        ))}
      </ol>
      {more}
    </>
  );
}

/** The members of an event's data that say who acted. */
const people = ["user_email", "refunded_by", "admin_github_id", "user_external_id"];
/** Those that are amounts in pence. */
const amounts = /^((total|net)_)?amount$|^fee$|^refund_amount_(refunded|available)$/;

/** An event, which can be later than the instant as of which the transaction is shown. */
function Event({ event, isLater }: { event: TransactionEvent; isLater: boolean }) {
  const { event_type, resource_type, timestamp, state, data } = event;
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
  if (amounts.test(name) && typeof value === "number" && Number.isInteger(value)) return formatMoney(value);
  return typeof value === "object" && value !== null ? formatJson(value) : String(value);
}
