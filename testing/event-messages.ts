import type { components } from "../generated/ledger.ts";

export type EventMessage = components["schemas"]["EventMessage"];
export type Details = NonNullable<EventMessage["event_details"]>;

/** One event of a resource: its time of day (UTC), its type, its details, and members of the message that differ. */
export type Step = [time: string, eventType: string, details?: Details, members?: Partial<EventMessage>];

type Resource = Omit<EventMessage, "event_type" | "timestamp" | "event_details">;

/** The messages of one resource's events on one day. A time is `HH:MM`, with seconds and a fraction where they matter. */
export const messagesAbout = (resource: Resource, day: string, steps: Step[]): EventMessage[] =>
  steps.map(([time, event_type, event_details = {}, members = {}]) => ({
    ...resource,
    event_type,
    timestamp: `${day}T${withMicroseconds(time)}Z`,
    event_details,
    ...members,
  }));

function withMicroseconds(time: string): string {
  const [clock = "", fraction = ""] = time.split(".");
  return `${clock.length === "HH:MM".length ? `${clock}:00` : clock}.${fraction.padEnd(6, "0")}`;
}
