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
import type { AccountResourceRow } from "./fold-state.ts";
import { continuationCondition, newestFirst, type PageLimits, type Position, readWithin } from "./page.ts";
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

/** An agreement as responses show it. Details are JSON. */
export interface FoundAgreement
  extends Omit<
    AgreementRow,
    "event_count" | "first_event_id" | "folded" | "gateway_account_id" | "reference" | "details"
  > {
  details: string;
  /** Its newest payment instrument. */
  payment_instrument: FoundInstrument | null;
}

interface FoundInstrument extends Pick<PaymentInstrumentRow, "external_id" | "created_date"> {
  details: string;
}

const size = "(agreement.size + coalesce(instrument.size, 0))";

/**
 * The columns in responses, of `agreement` and `instrument`; without the details, which are not read, if they are larger than
 * `bytesMax`.
 */
function shownColumns(bytesMax: string): string {
  const wholeCondition = `${size} <= ${bytesMax}::bigint`;
  return `
    agreement.external_id, agreement.service_id, agreement.live, agreement.state, agreement.created_date,
    agreement.cancelled_date, agreement.cancelled_by_user_email,
    case when ${wholeCondition} then jsonb_build_object(
      'reference', agreement.details -> 'reference', 'description', agreement.details -> 'description',
      'user_identifier', agreement.details -> 'user_identifier'
    )::text end as details,
    instrument.external_id as instrument_external_id, instrument.created_date as instrument_created_date,
    case when ${wholeCondition} then instrument.details::text end as instrument_details,
    ${size} as size, ${wholeCondition} as is_whole`;
}

interface FoundRow extends Omit<FoundAgreement, "payment_instrument"> {
  instrument_external_id: string | null;
  instrument_created_date: string;
  instrument_details: string;
  size: number;
  is_whole: boolean;
}

const withInstrument = ({
  instrument_external_id: external_id,
  instrument_created_date: created_date,
  instrument_details: details,
  ...row
}: FoundRow) => ({
  ...row,
  payment_instrument: external_id === null ? null : { external_id, created_date, details },
});

/** The id of an agreement, and values that it must have. */
export interface AgreementKey {
  external_id: string;
  gateway_account_id: string | undefined;
  service_id: string | undefined;
}

const findStatement = `
  select ${shownColumns("$4")}
  from agreement left join lateral (${newestInstrument}) as instrument on true
  where agreement.external_id = $1
    and ($2::text is null or gateway_account_id = $2) and ($3::text is null or agreement.service_id = $3)`;

/** An agreement; without details, which must be read again, if they are larger than `bytesMax`. */
export async function findAgreement(
  sql: Sql,
  { external_id, gateway_account_id, service_id }: AgreementKey,
  bytesMax = Number.MAX_SAFE_INTEGER,
): Promise<ReturnType<typeof withInstrument> | undefined> {
  const values = [external_id, gateway_account_id ?? null, service_id ?? null, bytesMax];
  const [row] = await sql.query<FoundRow>(findStatement, values);
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
 * excludes agreements that arrived after its first page was read. `next` is the position of the next page, if there is one.
 */
export async function searchAgreements(
  sql: Sql,
  filter: AgreementFilter,
  { offset = 0, ...limits }: PageLimits & { offset?: number },
): Promise<{ rows: FoundAgreement[]; next: Position | undefined }> {
  const { rows, isLast } = await readWithin(limits, (max, rowBytesMax) => {
    const { values, bind } = binding();
    const arrived = filter.after ? bind(filter.after.arrived) : "(select arrived_events())";
    const statement = `
      select ${shownColumns(bind(rowBytesMax))}, ${arrived}::text as arrived
      from (
        select * ${matching(filter, bind)} order by ${newestFirst} limit ${bind(max)} offset ${bind(offset)}
      ) as agreement left join lateral (${newestInstrument}) as instrument on true
      order by agreement.created_date desc, agreement.external_id desc`;
    return sql.query<FoundRow & Position>(statement, values, "custom");
  });
  return { rows: rows.map(withInstrument), next: isLast ? undefined : rows.at(-1) };
}

export function countAgreements(sql: Sql, filter: AgreementFilter): Promise<number> {
  const { values, bind } = binding();
  return queryCount(sql, `select count(*) ${matching(filter, bind)}`, values, "custom");
}
