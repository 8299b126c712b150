import type { LedgerEvent } from "./messages.ts";
import {
  agreementStatusOf,
  commonColumns,
  compareBytes,
  compareOldestFirst,
  compareText,
  milliseconds,
  newestOf,
  type Oracle,
  type Query,
  text,
  viewCard,
} from "./oracle.ts";

/** The agreements of the reference model. Like the rest of it they are written from the contract alone. */

interface Agreement {
  id: string;
  account: string | undefined;
  service: string | undefined;
  live: boolean | undefined;
  createdDate: string;
  /** As the API shows it. */
  view: { status: string; reference: string | null };
}

function agreementOf(oracle: Oracle, id: string): Agreement | undefined {
  const events = oracle.eventsOf(id, ["agreement"]);
  if (events.length === 0) return undefined;
  const { account, service, createdDate, details } = commonColumns(events);
  const live = newestOf(events, (event) => event.live);
  const stateEvent = newestOf(events, (event) =>
    agreementStatusOf.get(event.event_type) ? event : undefined,
  );
  const isCancelled = stateEvent?.event_type.startsWith("AGREEMENT_CANCELLED_") ?? false;
  const isByUser = stateEvent?.event_type === "AGREEMENT_CANCELLED_BY_USER";
  const view = {
    external_id: id,
    service_id: service ?? null,
    reference: text(details, "reference") ?? null,
    description: text(details, "description") ?? null,
    status: agreementStatusOf.get(stateEvent?.event_type ?? "") ?? "UNDEFINED",
    live: live ?? null,
    created_date: milliseconds(createdDate),
    payment_instrument: newestInstrument(oracle, id),
    user_identifier: text(details, "user_identifier") ?? null,
    cancelled_date: isCancelled ? milliseconds((events.at(-1) as LedgerEvent).timestamp) : null,
    cancelled_by_user_email: isByUser ? (text(details, "user_email") ?? null) : null,
  };
  return { id, account, service, live, createdDate, view };
}

function newestInstrument(oracle: Oracle, agreementId: string) {
  const own = oracle.instrumentsEverOf(agreementId).flatMap((id) => {
    const { createdDate, details } = commonColumns(oracle.eventsOf(id, ["payment_instrument"]));
    return text(details, "agreement_external_id") === agreementId ? { id, createdDate, details } : [];
  });
  const [newest] = own.sort((a, b) => compareText(b.createdDate, a.createdDate) || compareBytes(b.id, a.id));
  if (newest === undefined) return null;
  const { id, createdDate, details } = newest;
  return {
    external_id: id,
    agreement_external_id: agreementId,
    card_details: viewCard(details, "card_brand", true) ?? null,
    type: text(details, "type") ?? null,
    created_date: milliseconds(createdDate),
  };
}

const isListed = (values: string | undefined, value: string | undefined) =>
  values === undefined || (value !== undefined && values.split(",").includes(value));

/** The body of a lookup; undefined for 404. */
export function agreement(oracle: Oracle, id: string, { as_of, ...query }: Query): object | undefined {
  if (as_of !== undefined) return agreement(oracle.asOf([id], as_of), id, query);
  const found = agreementOf(oracle, id);
  const matches = isListed(query.account_id, found?.account) && isListed(query.service_id, found?.service);
  return matches ? found?.view : undefined;
}

/** The body of a list of events without the event ids; undefined for 404. */
export function agreementEvents(oracle: Oracle, id: string, { as_of, ...query }: Query): object | undefined {
  if (as_of !== undefined) return agreementEvents(oracle.asOf([id], as_of), id, query);
  if (agreement(oracle, id, query) === undefined) return undefined;
  const events = [
    ...oracle.eventsOf(id, ["agreement"]),
    ...oracle.instrumentsEverOf(id).flatMap((one) => oracle.eventsOf(one, ["payment_instrument"])),
  ];
  return {
    events: events.sort(compareOldestFirst).map((event) => ({
      resource_external_id: event.resource_external_id,
      resource_type: event.resource_type.toUpperCase(),
      event_type: event.event_type,
      timestamp: milliseconds(event.timestamp),
      live: event.live,
      service_id: event.service_id,
      data: event.event_details,
    })),
  };
}

export const agreementIds = (oracle: Oracle): string[] =>
  oracle.resourceIds().filter((id) => oracle.eventsOf(id, ["agreement"]).length > 0);

/** Every match of a search, in order. Here several accounts or services are separated by commas. */
export function agreementMatches(oracle: Oracle, query: Query): object[] {
  const isOfReference = (reference: string | null) => {
    const [own, wanted] = [reference?.toLowerCase() ?? "", query.reference?.toLowerCase() ?? ""];
    return query.exact_reference_match === "true" ? own === wanted : own.includes(wanted);
  };
  return agreementIds(oracle)
    .flatMap((id) => agreementOf(oracle, id) ?? [])
    .filter(
      ({ account, service, live, view }) =>
        isListed(query.account_id, account) &&
        isListed(query.service_id, service) &&
        (query.live === undefined || live === (query.live === "true")) &&
        (query.status === undefined || view.status === query.status.toUpperCase()) &&
        (query.reference === undefined || isOfReference(view.reference)),
    )
    .sort((a, b) => compareText(b.createdDate, a.createdDate) || compareBytes(b.id, a.id))
    .map(({ view }) => view);
}
