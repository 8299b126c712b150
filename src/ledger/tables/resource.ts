import type { Sql } from "../../database/database.ts";
import { queryCount, queryIds } from "./query.ts";

/**
 * The sources of the ids of resources with a projection: events, and rows, which can exist without events. A resource
 * belongs to an account if an event or a row of it names the account; a payment instrument, also if its agreement does.
 */
const sources = [
  {
    id: "resource_external_id",
    from: `event where resource_type in ('payment', 'refund', 'dispute', 'payout', 'agreement', 'payment_instrument')`,
    account: "account_of_event(event_details, other_members)",
  },
  { id: "external_id", from: "transaction where true", account: "gateway_account_id" },
  { id: "external_id", from: "transaction_outline where true", account: "gateway_account_id" },
  { id: "gateway_payout_id", from: "payout where true", account: "gateway_account_id" },
  { id: "external_id", from: "agreement where true", account: "gateway_account_id" },
  {
    id: "external_id",
    from: "payment_instrument where true",
    account: `(
      select gateway_account_id from agreement where agreement.external_id = payment_instrument.agreement_external_id
    )`,
  },
];

/** The ids in all sources that match a condition, without duplicates. */
const union = (matching: (source: (typeof sources)[number]) => string) =>
  sources
    .map((source) => `(select distinct ${source.id} as id from ${source.from} and ${matching(source)})`)
    .join(" union ");

/** The next ids after one, in order. Each source is read in index order and no further than needed. */
export function resourceIdsAfter(sql: Sql, after: string, limit: number, accountId?: string) {
  const matching = union(
    ({ id, account }) => `${id} > $1 and ${accountId === undefined ? "$3::text is null" : `${account} = $3`}
      order by id limit $2`,
  );
  return queryIds(sql, `${matching} order by id limit $2`, [after, limit, accountId ?? null]);
}

export function countResources(sql: Sql, accountId?: string): Promise<number> {
  const matching = union(({ account }) => (accountId === undefined ? "$1::text is null" : `${account} = $1`));
  return queryCount(sql, `select count(*) from (${matching}) as resource`, [accountId ?? null]);
}

/** The number of events of each resource. Counting stops at `max`. */
export async function countEventsOf(sql: Sql, ids: string[], max: number): Promise<number[]> {
  const rows = await sql.query<{ count: bigint }>(
    `select (
       select count(*) from (select from event where resource_external_id = resource.id limit $2) as counted
     ) as count
     from unnest($1::text[]) with ordinality as resource (id, place) order by place`,
    [ids, max],
    "repeated",
  );
  return rows.map(({ count }) => Number(count));
}

/** Returns those of these ids that exist. */
export const knownResourceIds = (sql: Sql, ids: string[]): Promise<string[]> =>
  queryIds(
    sql,
    union(({ id }) => `${id} = any($1::text[])`),
    [ids],
  );
