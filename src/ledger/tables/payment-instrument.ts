import type { Sql } from "../../database/database.ts";
import type { ResourceRow } from "./fold-state.ts";
import { queryIds } from "./query.ts";
import { resourceTable } from "./resource-table.ts";

export interface PaymentInstrumentRow extends ResourceRow {
  external_id: string;
  agreement_external_id: string | null;
}

export const paymentInstrumentTable = resourceTable<PaymentInstrumentRow>(
  "payment_instrument",
  "external_id",
  { external_id: "text", agreement_external_id: "text" },
  { hasSize: true },
);

/** A subquery for the newest payment instrument of an `agreement`. */
export const newestInstrument = `
  select external_id, created_date, details, size from payment_instrument
  where agreement_external_id = agreement.external_id
  order by created_date desc, external_id desc limit 1`;

/** Maximum number of payment instruments of an agreement: the events of all of them are in one list. */
export const instrumentsMax = 500;

/** The events that name an agreement. The expression is that of their index, since events can name longer ids. */
const eventsNaming = (agreement: string) =>
  `from event where resource_type = 'payment_instrument'
     and left(event_details ->> 'agreement_external_id', 255) = ${agreement}`;

/** Ids of the payment instruments with an event dated up to `asOf` that names this agreement. */
export const instrumentIdsAsOf = (sql: Sql, agreementId: string, asOf: string): Promise<string[]> =>
  queryIds(sql, `select distinct resource_external_id as id ${eventsNaming("$1")} and timestamp <= $2`, [
    agreementId,
    asOf,
  ]);

/** Those of these agreements that have more payment instruments than the maximum. */
export const withTooManyInstruments = (sql: Sql, agreementIds: string[]): Promise<string[]> =>
  queryIds(
    sql,
    `select id from unnest($1::text[]) as agreement (id)
     where (
       select count(*) from (
         select distinct resource_external_id ${eventsNaming("agreement.id")} limit ${instrumentsMax + 1}
       ) as instrument
     ) > ${instrumentsMax}`,
    [agreementIds],
  );
