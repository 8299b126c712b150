import type { Sql } from "../../database/database.ts";
import { type Details, type EventRow, transactionTypes } from "./event.ts";
import type { TransactionRow } from "./transaction.ts";

/** The place of an event in the ticker. */
export type TickerPosition = Pick<EventRow, "timestamp" | "id">;

/** An event of a live transaction, with columns of the transaction. */
export interface TickerRow
  extends Pick<EventRow, "id" | "timestamp" | "event_type" | "resource_external_id">,
    Pick<TransactionRow, "transaction_type" | "card_brand" | "gateway_account_id" | "service_id"> {
  /** Those of the transaction, reduced to the members in the ticker. */
  details: Details;
}

export interface TickerFilter {
  /** Instants, inclusive. */
  from: string;
  to: string;
  event_types?: string[] | undefined;
  /** The position before the first event. */
  after?: TickerPosition | undefined;
  /** The position of the last event. */
  until?: TickerPosition | undefined;
}

/** The members of the details in the ticker. A refund or dispute has the wallet of its payment. */
const details = `jsonb_build_object(
  'amount', details -> 'amount', 'payment_provider', details -> 'payment_provider', 'source', details -> 'source',
  'wallet', coalesce(payment_details, details) -> 'wallet', 'moto', details -> 'moto',
  'authorisation_mode', details -> 'authorisation_mode'
)`;

const columns = `event.id, event.timestamp, event.event_type, event.resource_external_id, transaction.transaction_type,
  transaction.card_brand, transaction.gateway_account_id, transaction.service_id, ${details} as details`;
const matching = `
  from event join transaction on transaction.external_id = event.resource_external_id
  where event.timestamp >= $1 and event.timestamp <= $2 and ($3::text[] is null or event.event_type = any($3))
    and ($4::timestamptz is null or (event.timestamp, event.id) < ($4, $5))
    and ($6::timestamptz is null or (event.timestamp, event.id) >= ($6, $7))
    and event.resource_type = any($8) and transaction.live
  order by event.timestamp desc, event.id desc`;

const valuesOf = ({ from, to, event_types, after, until }: TickerFilter) => {
  const positions = [after, until].flatMap((position) => [position?.timestamp ?? null, position?.id ?? 0n]);
  return [from, to, event_types ?? null, ...positions, transactionTypes];
};

/** The first `max` events of live transactions between two instants, newest first. */
export const listTicker = (sql: Sql, filter: TickerFilter, max: number): Promise<TickerRow[]> =>
  sql.query(`select ${columns} ${matching} limit $9`, [...valuesOf(filter), max], "custom");

/** The position of the event number `max`, if there are more. */
export async function tickerEnd(sql: Sql, filter: TickerFilter, max: number) {
  const [end, next] = await sql.query<TickerPosition>(
    `select event.timestamp, event.id ${matching} limit 2 offset $9`,
    [...valuesOf(filter), max - 1],
    "custom",
  );
  return next && end;
}
