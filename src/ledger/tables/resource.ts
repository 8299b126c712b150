import type { Sql } from "../database/database.ts";

/**
 * Where transactions and payouts are known from: what events tell of, and rows, although no event may tell of them. Of
 * an account are those that an event or a row names it of.
 */
const sources = [
  {
    id: "resource_external_id",
    from: "event where resource_type in ('payment', 'refund', 'dispute', 'payout')",
    account: "event_details ->> 'gateway_account_id'",
  },
  { id: "external_id", from: "transaction where true", account: "gateway_account_id" },
  { id: "gateway_payout_id", from: "payout where true", account: "gateway_account_id" },
];

/** What each source has of the ids that fit, each id once. */
const union = (fitting: (source: (typeof sources)[number]) => string) =>
  sources
    .map((source) => `(select distinct ${source.id} as id from ${source.from} and ${fitting(source)})`)
    .join(" union ");

/** The next ids behind one, in order: each source is read in the order of its index, and no further than needed. */
export async function resourceIdsAfter(
  sql: Sql,
  after: string,
  limit: number,
  accountId?: string,
): Promise<string[]> {
  const fitting = union(
    ({ id, account }) => `${id} > $1 and ${accountId === undefined ? "$3::text is null" : `${account} = $3`}
      order by id limit $2`,
  );
  const rows = await sql.query<{ id: string }>(`${fitting} order by id limit $2`, [
    after,
    limit,
    accountId ?? null,
  ]);
  return rows.map(({ id }) => id);
}

export async function countResources(sql: Sql, accountId?: string): Promise<number> {
  const fitting = union(({ account }) => (accountId === undefined ? "$1::text is null" : `${account} = $1`));
  const [row] = await sql.query<{ count: bigint }>(`select count(*) from (${fitting}) as resource`, [
    accountId ?? null,
  ]);
  return Number(row?.count);
}

/** Those of these ids that are known. */
export async function knownResourceIds(sql: Sql, ids: string[]): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    union(({ id }) => `${id} = any($1::text[])`),
    [ids],
  );
  return rows.map(({ id }) => id);
}
