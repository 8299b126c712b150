import { type EventMessage, messagesAbout } from "./event-messages.ts";

export type { EventMessage } from "./event-messages.ts";

/** One event: its time on 5 March 2024, its type, its details, and members of the message to add or replace. */
export type Step = [time: string, eventType: string, details?: object, members?: object];

const day = "2024-03-05";
const account = { gateway_account_id: "57" };

/** The messages of the events of one resource. Default account: 57; the details of the first event can name another. */
export const story = (
  resource_type: EventMessage["resource_type"],
  resource_external_id: string,
  ...steps: Step[]
): EventMessage[] =>
  messagesAbout(
    { resource_type, resource_external_id },
    day,
    steps.map(([time, eventType, details = {}, members = {}], index) => [
      time,
      eventType,
      index === 0 ? { ...account, ...details } : { ...details },
      members,
    ]),
  );

/** The messages of a child of a payment. */
export const childStory = (type: "refund" | "dispute", id: string, parent: string, ...steps: Step[]) =>
  story(type, id, ...steps).map((message) => ({ ...message, parent_resource_external_id: parent }));

/** The message of the creation of payment `pay1` of account 57, with these members added or replaced. */
export const message = (members: object) => ({
  ...story("payment", "pay1", [
    "09:14:22.018408",
    "PAYMENT_CREATED",
    { amount: 4250, reference: "LIC-88" },
  ])[0],
  ...members,
});
