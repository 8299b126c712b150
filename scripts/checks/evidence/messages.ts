import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { type EventMessage, type Step, story } from "../../../testing/messages.ts";

type Members = Record<string, unknown>;

const absent = Symbol("absent");
const file = new URL("./messages.yaml", import.meta.url);

/** The resources of the file: by type and id, their events with details, and members of all their messages. */
const resources: Record<string, Members> = parse(readFileSync(file, "utf8"), {
  merge: true,
  reviver: (_, value) => (value === "(absent)" ? absent : value === "(large)" ? "x".repeat(900_000) : value),
});

const disputeReasons = [
  ...["credit_not_processed", "duplicate", "fraudulent", "general", "product_not_received"],
  ...["product_unacceptable", "subscription_canceled", "unknown_reason"],
];

/** Messages that cover every state, member and enum value of the ledger's contract. */
export const messages: EventMessage[] = [
  ...Object.entries(resources),
  ...disputeReasons.map((reason): [string, Members] => [
    `dispute dispute-${reason}`,
    { parent_resource_external_id: "full", DISPUTE_CREATED: { reason } },
  ]),
].flatMap(([name, members]) => messagesOf(name, members));

function messagesOf(name: string, members: Members): EventMessage[] {
  const [type = "", id = ""] = name.split(" ");
  const [events, common] = [true, false].map((isEvent) =>
    Object.entries(members).filter(([member]) => (member === member.toUpperCase()) === isEvent),
  ) as [[string, Members][], [string, unknown][]];
  const steps = events.map(
    ([eventType, details], hour): Step => [
      `${String(hour).padStart(2, "0")}:00`,
      eventType,
      present(Object.entries(details)),
      present(common),
    ],
  );
  return story(type as EventMessage["resource_type"], id, ...steps);
}

function present(members: [string, unknown][]): Members {
  return Object.fromEntries(members.map(([name, value]) => [name, value === absent ? undefined : value]));
}

/** Messages that request a rebuild of a stored resource. */
export const rebuilds: EventMessage[] = [true, "true" as const].map((reproject_domain_object) => ({
  event_type: "REPROJECT",
  resource_type: "payment",
  resource_external_id: "full",
  timestamp: "2024-03-06T00:00:00Z",
  reproject_domain_object,
}));
