import { useState } from "preact/hooks";
import { Button } from "../elements.tsx";
import { formatInstant, formatUtc } from "../format.ts";
import type { TransactionEvent } from "./client.ts";
import { describeEvent } from "./event-words.ts";

interface Props {
  /** The events of the transaction, oldest first. Each is a position of the slider; the last one is now. */
  events: TransactionEvent[];
  /** The instant of the address bar. */
  asOf: string | undefined;
  onChange: (instant: string | undefined) => void;
}

/** The last microsecond of an instant that is truncated to the millisecond. */
const endOf = (timestamp: string) => timestamp.replace("Z", "999Z");

/** True if an event is part of the state as of an instant. Without an instant every event is. */
export const isUpTo = (asOf: string | undefined, { timestamp }: TransactionEvent): boolean =>
  asOf === undefined || Date.parse(timestamp) <= Date.parse(asOf);

/** A slider through the events: the page shows the transaction as it was after the event. */
export function AsOf({ events, asOf, onChange }: Props) {
  const now = events.length;
  const position = asOf === undefined ? now : events.filter((event) => isUpTo(asOf, event)).length - 1;
  const [moved, setMoved] = useState<number>();
  const shown = moved ?? position;
  const event = events[shown];
  const text = event ? `${formatInstant(event.timestamp)}: ${describeEvent(event.event_type)}` : "Now";
  const settle = (index: number) => {
    setMoved(undefined);
    if (index !== position) onChange(events[index] && endOf(events[index].timestamp));
  };
  return (
    <div class="as-of">
      <label for="as-of">Show the transaction as of</label>
      <input
        id="as-of"
        type="range"
        min={0}
        max={now}
        value={Math.max(shown, 0)}
        aria-valuetext={text}
        onInput={({ currentTarget }) => setMoved(Number(currentTarget.value))}
        onChange={({ currentTarget }) => settle(Number(currentTarget.value))}
      />
      <output for="as-of" title={event && formatUtc(event.timestamp)}>
        {text}
      </output>
      {asOf !== undefined && <Button onClick={() => onChange(undefined)}>Back to now</Button>}
    </div>
  );
}
