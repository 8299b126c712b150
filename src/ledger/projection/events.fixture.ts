import fc from "fast-check";
import { type Step as MessageStep, messagesAbout } from "../../../testing/event-messages.ts";
import type { Step } from "../../../testing/messages.ts";
import type { EventRow, ResourceType } from "../tables/event.ts";
import { type FoldedRow, Folds, type Projection } from "./history.ts";
import { stateEventTypes } from "./states.ts";
import { transactionProjection, withPaymentDetails } from "./transaction.ts";

/** Folds events into transactions. The events must contain those of the parents. */
export function projectTransactions(events: EventRow[]) {
  const folds = new Folds(transactionProjection);
  folds.add(events);
  const rows = folds.rows();
  return [...rows.values()].map((row) => withPaymentDetails(row, rows));
}

/** The event rows of one resource, in order of arrival. See `messagesAbout` for a step. */
export const events = (type: ResourceType, id: string, ...steps: Step[]): EventRow[] =>
  messagesAbout({ resource_type: type, resource_external_id: id }, "2024-03-05", steps as MessageStep[]).map(
    (message, index) => ({
      id: BigInt(index),
      parent_resource_external_id: null,
      service_id: null,
      live: null,
      ...(message as Partial<EventRow>),
    }),
  ) as EventRow[];

type Identity = "resource_type" | "resource_external_id" | "parent_resource_external_id";

const eventOf = (type: ResourceType, id: string, parent: string | null) =>
  eventWith({
    resource_type: fc.constant(type),
    resource_external_id: fc.constant(id),
    parent_resource_external_id: fc.constantFrom(parent, null),
  });

const eventWith = (identity: { [Name in Identity]: fc.Arbitrary<EventRow[Name]> }) =>
  fc.record<Omit<EventRow, "id">>({
    ...identity,
    timestamp: fc.integer({ min: 0, max: 5 }).map((minute) => `2024-03-05T10:0${minute}:00.000000Z`),
    event_type: fc.oneof(fc.constantFrom(...stateEventTypes), fc.constantFrom("DETAILS", "OTHER", "UNKNOWN")),
    service_id: fc.constantFrom(null, "one", "two"),
    live: fc.constantFrom(null, true, false),
    event_details: fc.record(
      {
        gateway_account_id: fc.constantFrom("57", "58"),
        gateway_payout_id: fc.constantFrom("po", "other"),
        amount: fc.nat(5),
        reference: fc.nat(5),
        email: fc.nat(5),
        user_email: fc.constantFrom("a@example.org", ""),
        agreement_external_id: fc.constantFrom("agr", "other", 5),
        live: fc.boolean(),
        wallet: fc.constant("APPLE_PAY"),
        paid_out_date: fc.constantFrom("2024-03-11T23:59:59Z", "nonsense"),
        external_metadata: fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom("X", 1, true)),
      },
      { requiredKeys: [] },
    ),
    other_members: fc.constantFrom(null, null, {}, { gateway_account_id: 57 }, { gateway_account_id: "59" }),
  });

/**
 * Events of a payment, its refund, its dispute and its payout, and of an agreement and its payment instrument, in any order,
 * without duplicates. Timestamps can be equal.
 */
export const relatedEvents: fc.Arbitrary<EventRow[]> = fc
  .uniqueArray(
    fc.oneof(
      eventOf("payment", "pay", null),
      eventOf("refund", "ref", "pay"),
      eventOf("dispute", "dis", "pay"),
      eventOf("payout", "po", null),
      eventOf("agreement", "agr", null),
      eventOf("payment_instrument", "ins", null),
    ),
    {
      selector: ({ resource_external_id, timestamp, event_type }) =>
        resource_external_id + timestamp + event_type,
      maxLength: 20,
    },
  )
  .map((all) => all.map((event, index) => ({ id: BigInt(index + 1), ...event })));

const ids = ["pay", "ref", "dis", "po", "agr"];
const anyType = [
  "payment",
  "payment",
  "refund",
  "dispute",
  "payout",
  "agreement",
  "payment_instrument",
] as const;

/** Events of a few resources. Each event can give its resource any type and any parent. */
export const arbitraryEvents: fc.Arbitrary<EventRow[]> = fc
  .uniqueArray(
    eventWith({
      resource_type: fc.constantFrom(...anyType),
      resource_external_id: fc.constantFrom(...ids),
      parent_resource_external_id: fc.constantFrom(null, ...ids),
    }),
    {
      selector: ({ resource_external_id, resource_type, timestamp, event_type }) =>
        resource_external_id + resource_type + timestamp + event_type,
      maxLength: 20,
    },
  )
  .map((all) => all.map((event, index) => ({ id: BigInt(index + 1), ...event })));

/** The same events in another order. */
export const shuffled = (events: EventRow[]) => fc.shuffledSubarray(events, { minLength: events.length });

/** The rows into which these events are folded. */
export function project<Row extends Base, State extends string, Base extends FoldedRow>(
  projection: Projection<Row, State, Base>,
  events: EventRow[],
): Row[] {
  const folds = new Folds(projection);
  folds.add(events);
  return [...folds.rows().values()];
}
