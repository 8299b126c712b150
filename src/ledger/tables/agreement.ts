import type { eventTypes } from "../../../generated/ledger.event-types.ts";
import type { Sql } from "../../database/database.ts";
import {
  allConditions,
  type Bind,
  binding,
  type Conditions,
  contains,
  equals,
  equalsInAnyCase,
  oneOf,
} from "./conditions.ts";
import type { Details } from "./event.ts";
import type { AccountResourceRow } from "./fold-state.ts";
import { continuationCondition, newestFirst, type PageLimits, type Position } from "./page.ts";
import { newestInstrument, type PaymentInstrumentRow } from "./payment-instrument.ts";
import { queryCount } from "./query.ts";
import { accountTypes, resourceTable } from "./resource-table.ts";

/** The state of an agreement; `UNDEFINED` if no event has set one. */
export type AgreementState = "UNDEFINED" | Extract<AgreementEvent, { state: string }>["state"];
type AgreementEvent = (typeof eventTypes.agreement)[number];

export interface AgreementRow extends AccountResourceRow {
  external_id: string;
  state: AgreementState;
  /** Number of the event that arrived first. */
  first_event_id: bigint;
  reference: string | null;
  /** The timestamp of the newest event of a cancelled agreement: UTC, six fraction digits. */
  cancelled_date: string | null;
  cancelled_by_user_email: string | null;
}

export const agreementTable = resourceTable<AgreementRow>(
  "agreement",
  "external_id",
  {
    external_id: "text",
    ...accountTypes,
    first_event_id: "bigint",
    reference: "text",
    cancelled_date: "timestamptz",
    cancelled_by_user_email: "text",
  },
  { hasSize: true },
);

/** An agreement as responses show it. */
export interface FoundAgreement
  extends Omit<AgreementRow, "event_count" | "first_event_id" | "folded" | "gateway_account_id"> {
  /** Its newest payment instrument. */
  payment_instrument: Pick<PaymentInstrumentRow, "external_id" | "created_date" | "details"> | null;
}

/** The columns in responses, of `agreement` and `instrument`; without the details, which are not read, if a condition is false. */
const shownColumns = (wholeCondition: string) => `
  agreement.external_id, agreement.service_id, agreement.live, agreement.state, agreement.created_date,
  agreement.reference, agreement.cancelled_date, agreement.cancelled_by_user_email,
  case when ${wholeCondition} then jsonb_build_object(
    'description', agreement.details -> 'description', 'user_identifier', agreement.details -> 'user_identifier'
  ) end as details,
  instrument.external_id as instrument_external_id, instrument.created_date as instrument_created_date,
  case when ${wholeCondition} then instrument.details end as instrument_details`;

interface FoundRow extends Omit<FoundAgreement, "payment_instrument"> {
  instrument_external_id: string | null;
  instrument_created_date: string;
  instrument_details: Details;
}

const withInstrument = <Row extends FoundRow>({
  instrument_external_id: external_id,
  instrument_created_date: created_date,
  instrument_details: details,
  ...row
}: Row) => ({
  ...row,
  payment_instrument: external_id === null ? null : { external_id, created_date, details },
});

const size = "agreement.size + coalesce(instrument.size, 0)";

/** The id of an agreement, and values that it must have. */
export interface AgreementKey {
  external_id: string;
  gateway_account_id: string | undefined;
  service_id: string | undefined;
}

const findStatement = `
  select ${shownColumns(`${size} <= $4::bigint`)}, ${size} <= $4::bigint as is_whole
  from agreement left join lateral (${newestInstrument}) as instrument on true
  where agreement.external_id = $1
    and ($2::text is null or gateway_account_id = $2) and ($3::text is null or agreement.service_id = $3)`;

/** An agreement; without details, which must be read again, if they are larger than `bytesMax`. */
export async function findAgreement(
  sql: Sql,
  { external_id, gateway_account_id, service_id }: AgreementKey,
  bytesMax = Number.MAX_SAFE_INTEGER,
): Promise<(FoundAgreement & { is_whole: boolean }) | undefined> {
  const values = [external_id, gateway_account_id ?? null, service_id ?? null, bytesMax];
  const [row] = await sql.query<FoundRow & { is_whole: boolean }>(findStatement, values);
  return row && withInstrument(row);
}

/** All given conditions must hold. Search texts are literal. */
export interface AgreementFilter {
  service_ids?: string[] | undefined;
  account_ids?: string[] | undefined;
  state?: AgreementState | undefined;
  /** Part of the reference, case-insensitive. */
  reference?: string | undefined;
  /** The whole reference, case-insensitive. */
  exact_reference?: string | undefined;
  live?: boolean | undefined;
  after?: Position | undefined;
}

const conditions: Conditions<AgreementFilter> = {
  service_ids: oneOf("service_id"),
  account_ids: oneOf("gateway_account_id"),
  state: equals("state"),
  reference: contains("reference"),
  exact_reference: equalsInAnyCase("reference"),
  live: equals("live"),
  after: continuationCondition,
};

const matching = (filter: AgreementFilter, bind: Bind) =>
  `from agreement where ${allConditions(conditions, filter, bind)}`;

/**
 * A page of the agreements that match the filter, newest first; ties are ordered by id, descending. A search from a position
 * excludes agreements that arrived after its first page was read.
 */
export async function searchAgreements(
  sql: Sql,
  filter: AgreementFilter,
  { offset = 0, countMax, bytesMax }: PageLimits & { offset?: number },
): Promise<{ rows: (FoundAgreement & Position)[]; isLast: boolean }> {
  const { values, bind } = binding();
  const arrived = filter.after ? bind(filter.after.arrived) : "(select arrived_events())";
  // One row more than the page shows whether there is another page. Only the details on the page are read.
  const statement = `
    select ${shownColumns("true")}, ${arrived}::text as arrived, number = count as is_last
    from (
      select agreement.external_id, instrument.external_id as instrument_id, count(*) over () as count,
        row_number() over in_order as number, sum(${size}) over in_order - (${size}) as bytes_before
      from (
        select * ${matching(filter, bind)} order by ${newestFirst} limit ${bind(countMax + 1)} offset ${bind(offset)}
      ) as agreement left join lateral (${newestInstrument}) as instrument on true
      window in_order as (order by agreement.created_date desc, agreement.external_id desc)
    ) as page join agreement using (external_id)
      left join payment_instrument as instrument on instrument.external_id = instrument_id
    where number <= ${bind(countMax)} and bytes_before < ${bind(bytesMax)} order by number`;
  const rows = await sql.query<FoundRow & Position & { is_last: boolean }>(statement, values, "custom");
  return { rows: rows.map(withInstrument), isLast: rows.at(-1)?.is_last ?? true };
}

export function countAgreements(sql: Sql, filter: AgreementFilter): Promise<number> {
  const { values, bind } = binding();
  return queryCount(sql, `select count(*) ${matching(filter, bind)}`, values, "custom");
}
