import { Counter, type Registry } from "prom-client";
import { printable } from "../../process/command.ts";
import type { Logger } from "../../process/log.ts";
import { isKnownEventType } from "../projection/states.ts";
import type { NewEvent } from "../tables/event.ts";

/** Producers can send any number of types, of up to 255 characters each. */
const loggedTypesMax = 1000;
const loggedLengthMax = 100;

/** Returns a function that counts new events whose type the contract does not list, and logs each such type once. */
export function watchUnknownEventTypes(registry: Registry, log: Logger): (stored: NewEvent[]) => void {
  const events = new Counter({
    registers: [registry],
    name: "ledger_unknown_event_types_total",
    help: "New events whose type the contract does not list. The log has each type once.",
  });
  const logged = new Set<string>();
  function logOnce(eventType: string): void {
    if (logged.has(eventType) || logged.size === loggedTypesMax) return;
    logged.add(eventType);
    const shown = printable(eventType.slice(0, loggedLengthMax));
    log.warn({ eventType: shown }, "stored an event of a type that the contract does not list");
    if (logged.size === loggedTypesMax) log.warn("further event types that it does not list are not logged");
  }
  return (stored) => {
    const unknown = stored.filter(({ event_type }) => !isKnownEventType(event_type));
    events.inc(unknown.length);
    for (const { event_type } of unknown) logOnce(event_type);
  };
}
