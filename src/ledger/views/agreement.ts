import type { components, operations } from "../../../generated/ledger.ts";
import { textOf } from "../projection/details.ts";
import type { FoundAgreement } from "../tables/agreement.ts";
import type { EventRow } from "../tables/event.ts";
import { viewCardDetails } from "./card.ts";
import { viewMilliseconds } from "./date.ts";

type Schemas = components["schemas"];

export const viewAgreement = (row: FoundAgreement): Schemas["Agreement"] => ({
  external_id: row.external_id,
  service_id: row.service_id,
  reference: row.reference,
  description: textOf(row.details, "description") ?? null,
  status: row.state,
  live: row.live,
  created_date: viewMilliseconds(row.created_date),
  payment_instrument: row.payment_instrument && viewInstrument(row.external_id, row.payment_instrument),
  user_identifier: textOf(row.details, "user_identifier") ?? null,
  cancelled_date: row.cancelled_date && viewMilliseconds(row.cancelled_date),
  cancelled_by_user_email: row.cancelled_by_user_email,
});

const viewInstrument = (
  agreement_external_id: string,
  { external_id, details, created_date }: NonNullable<FoundAgreement["payment_instrument"]>,
): Schemas["PaymentInstrument"] => ({
  external_id,
  agreement_external_id,
  card_details: viewCardDetails(details, { brand: "card_brand", hasAddress: true }) ?? null,
  type: textOf(details, "type") ?? null,
  created_date: viewMilliseconds(created_date),
});

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

/** An event of an agreement or of one of its payment instruments. */
export const viewAgreementEvent = (event: EventRow): Schemas["AgreementEvent"] => ({
  resource_external_id: event.resource_external_id,
  resource_type: event.resource_type.toUpperCase() as Schemas["AgreementResourceType"],
  event_type: event.event_type,
  timestamp: viewMilliseconds(event.timestamp),
  live: event.live,
  service_id: event.service_id,
  data: event.event_details,
});
