import { eventTypes } from "../../../generated/ledger.event-types.ts";
import { formatName } from "../format.ts";

const descriptions = new Map<string, string>(
  Object.values(eventTypes)
    .flat()
    .map(({ event_type, description }) => [event_type, description]),
);

/** What happened, as a sentence of the contract. An event type that the contract does not list has its name. */
export const describeEvent = (eventType: string): string =>
  descriptions.get(eventType) ?? `${formatName(eventType)}.`;
