import type { components, operations } from "../../../generated/ledger.ts";
import { Bytes } from "../../values/bytes.ts";
import { Members } from "../../values/json-members.ts";
import {
  constantWriter,
  objectWriter,
  orElse,
  valueWriter,
  type Writer,
  writer,
} from "../../values/json-writer.ts";
import type { FoundAgreement } from "../tables/agreement.ts";
import type { ListedEvent } from "../tables/event.ts";
import { cardWriter } from "./card.ts";
import { viewMilliseconds } from "./date.ts";
import { detailNames, text } from "./details.ts";
import { eventWriter } from "./event.ts";

type Schemas = components["schemas"];

/** Writes a row that has details as JSON. */
function detailedWriter<Row extends { details: string }, Value>(
  write: Writer<{ row: Row; details: Members }, Value>,
): Writer<Row, Value> {
  return writer((row, out) => {
    const details = new Members(detailNames);
    details.find(Bytes.from(row.details), 0);
    return write({ row, details }, out);
  });
}

const column = <Row, Value>(read: (row: Row) => Value) => valueWriter(({ row }: { row: Row }) => read(row));

const of = <Row, Value>(write: Writer<Members, Value>) =>
  writer<{ row: Row; details: Members }, Value>(({ details }, out) => write(details, out));

const none = constantWriter(null);

type Instrument = NonNullable<FoundAgreement["payment_instrument"]> & { agreement_external_id: string };

const instrument = detailedWriter<Instrument, Schemas["PaymentInstrument"]>(
  objectWriter({
    external_id: column((row) => row.external_id),
    agreement_external_id: column((row) => row.agreement_external_id),
    card_details: of(orElse(cardWriter({ brand: "card_brand", hasAddress: true }), none)),
    type: of(orElse(text("type"), none)),
    created_date: column((row) => viewMilliseconds(row.created_date)),
  }),
);

const instrumentOf = writer<{ row: FoundAgreement }, Schemas["PaymentInstrument"], boolean>(
  ({ row }, out) => {
    if (row.payment_instrument === null) return false;
    return instrument({ ...row.payment_instrument, agreement_external_id: row.external_id }, out);
  },
);

/** Writes an agreement as callers see it. */
export const agreementWriter = detailedWriter<FoundAgreement, Schemas["Agreement"]>(
  objectWriter({
    external_id: column((row) => row.external_id),
    service_id: column((row) => row.service_id),
    reference: of(orElse(text("reference"), none)),
    description: of(orElse(text("description"), none)),
    status: column((row) => row.state),
    live: column((row) => row.live),
    created_date: column((row) => viewMilliseconds(row.created_date)),
    payment_instrument: orElse(instrumentOf, none),
    user_identifier: of(orElse(text("user_identifier"), none)),
    cancelled_date: column((row) => row.cancelled_date && viewMilliseconds(row.cancelled_date)),
    cancelled_by_user_email: column((row) => row.cancelled_by_user_email),
  }),
);

/** The filters of a search, in the order in which alphagov/pay-ledger writes them in links, then those that it leaves out. */
export const viewAgreementFilters = ({
  service_id = [],
  account_id = [],
  exact_reference_match: isExact,
  override_account_or_service_id_restriction: override,
  ...query
}: operations["searchAgreements"]["parameters"]["query"]): [string, unknown][] => [
  ...service_id.map((value): [string, unknown] => ["service_id", value]),
  ...account_id.map((value): [string, unknown] => ["account_id", value]),
  ["status", query.status],
  ["reference", query.reference],
  ["live", query.live],
  ["exact_reference_match", isExact || undefined],
  ["override_account_or_service_id_restriction", override || undefined],
];

/** Writes an event of an agreement or of one of its payment instruments. */
export const agreementEventWriter = (isExtended: boolean): Writer<ListedEvent, Schemas["AgreementEvent"]> =>
  eventWriter(isExtended, (event) => ({
    resource_external_id: event.resource_external_id,
    resource_type: event.resource_type.toUpperCase() as Schemas["AgreementResourceType"],
    event_type: event.event_type,
    timestamp: viewMilliseconds(event.timestamp),
    live: event.live,
    service_id: event.service_id,
  }));
