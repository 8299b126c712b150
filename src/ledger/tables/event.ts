import type { components } from "../../../generated/ledger.ts";
import type { Sql } from "../../database/database.ts";
import { queryIds } from "./query.ts";
import { rowsAsJson } from "./save-statement.ts";

export type ResourceType = components["schemas"]["ResourceType"];
/** Every type of the contract, or this does not compile. */
const isResourceType: Record<ResourceType, true> = {
  payment: true,
  refund: true,
  dispute: true,
  payout: true,
  agreement: true,
  payment_instrument: true,
  service: true,
  card_payment: true,
};
export const resourceTypes = Object.keys(isResourceType) as ResourceType[];

type Declared = components["schemas"]["EventDetails"];

/** The details of an event: any members. Those of the contract have names here. */
export type Details = { [Name in keyof Declared as string extends Name ? never : Name]?: unknown };

export interface NewEvent {
  resource_type: ResourceType;
  resource_external_id: string;
  parent_resource_external_id: string | null;
  /** UTC, six fraction digits. */
  timestamp: string;
  event_type: string;
  service_id: string | null;
  live: boolean | null;
  event_details: Details;
  /** The other members of the message, without those that are null. Missing or null if there are none. */
  other_members?: Record<string, unknown> | null;
  /** When the ledger accepted the event, UTC. Missing or null if that is unknown. */
  accepted_at?: string | null;
}

export interface EventRow extends NewEvent {
  id: bigint;
}

/** An event in a list that a response shows. Its details are JSON. */
export interface ListedEvent
  extends Omit<EventRow, "event_details" | "parent_resource_external_id" | "other_members" | "accepted_at"> {
  event_details: string;
}

/** An event that a response shows. */
export type WholeEvent = ListedEvent & Pick<EventRow, "parent_resource_external_id">;

/** Resources by their types and external ids. */
export type Resource = Pick<EventRow, "resource_type" | "resource_external_id">;

/** Each of these ids as a resource of each of these types. */
export const resourcesOf = (types: ResourceType[], externalIds: string[]): Resource[] =>
  externalIds.flatMap((resource_external_id) =>
    types.map((resource_type) => ({ resource_type, resource_external_id })),
  );

/** The columns of resources, for `unnest`. */
export const resourceColumnsOf = (resources: Resource[]) => [
  resources.map((one) => one.resource_type),
  resources.map((one) => one.resource_external_id),
];

/** The columns of a row of `event`. */
export const eventColumns = (
  [
    "id",
    "resource_type",
    "resource_external_id",
    "parent_resource_external_id",
    "timestamp",
    "event_type",
    "service_id",
    "live",
    "event_details",
    "other_members",
  ] satisfies (keyof EventRow)[]
)
  .map((name) => `event.${name}`)
  .join(", ");

/** The columns of a `ListedEvent`; without the details, which are not read, if a condition is false. */
export const listedColumns = (wholeCondition = "true") => `
  event.id, event.resource_type, event.resource_external_id, event.timestamp, event.event_type, event.service_id,
  event.live, case when ${wholeCondition} then event.event_details::text end as event_details`;

/** The columns of a `WholeEvent`, as `listedColumns`. */
export const wholeColumns = (wholeCondition?: string) =>
  `${listedColumns(wholeCondition)}, event.parent_resource_external_id`;

/** Stores events that are new, those of redacted resources without personal data, and returns their rows. */
export const saveEvents = (sql: Sql, events: NewEvent[]): Promise<EventRow[]> =>
  sql.query(
    `insert into event (resource_type, resource_external_id, parent_resource_external_id, timestamp, event_type,
                        service_id, live, event_details, other_members, size, accepted_at)
     select resource_type, resource_external_id, parent_resource_external_id, timestamp, event_type, service_id, live,
            coalesce(redacted_members(event_details, keeps_metadata), event_details),
            coalesce(redacted_members(other_members, keeps_metadata), other_members), size, accepted_at
     from jsonb_to_recordset($1::jsonb) as new_event (
       resource_type text, resource_external_id text, parent_resource_external_id text, timestamp timestamptz,
       event_type text, service_id text, live boolean, event_details jsonb, other_members jsonb,
       size integer, accepted_at timestamptz)
     cross join lateral (
       select bool_and(keeps_metadata) as keeps_metadata from redaction
       where redaction.resource_external_id = new_event.resource_external_id
     ) as own_redaction
     on conflict do nothing
     returning ${eventColumns}, event.accepted_at`,
    [rowsAsJson(events)],
  );

/**
 * Makes the commit of a transaction that writes nothing wait for a synchronous standby. The events that it found can be
 * missing there: the wait for the commit that stored them may have ended before.
 */
export const awaitStandby = (sql: Sql): Promise<unknown> =>
  sql.query("select pg_logical_emit_message(true, 'payment-ledger', '')");

/** The numbers of stored events, in the order of these. */
export const eventIdsOf = (sql: Sql, events: NewEvent[]): Promise<bigint[]> =>
  queryIds(
    sql,
    `select event.id
     from unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[])
       with ordinality as wanted (resource_type, resource_external_id, timestamp, event_type, place)
     join event using (resource_type, resource_external_id, timestamp, event_type)
     order by place`,
    [
      ...resourceColumnsOf(events),
      events.map((event) => event.timestamp),
      events.map((event) => event.event_type),
    ],
  );

/** The resource types whose events belong to transactions. */
export const transactionTypes: ResourceType[] = ["payment", "refund", "dispute"];

/** The size of an event as JSON, in bytes. A row of an older release has no size. */
export const eventSize = "coalesce(event.size, octet_length(event.event_details::text))";

/** An event; without its details if they are larger than `bytesMax`. */
export async function findEvent(sql: Sql, id: bigint, bytesMax = Number.MAX_SAFE_INTEGER) {
  const wholeCondition = "coalesce(size, pg_column_size(event_details)) <= $2::bigint";
  const statement = `select ${wholeColumns(wholeCondition)}, ${wholeCondition} as is_whole from event where id = $1`;
  const [row] = await sql.query<WholeEvent & { is_whole: boolean }>(statement, [id, bytesMax]);
  return row;
}

/** Limits of a piece of a history. It has one more event than the bytes permit. */
const pieceCountMax = 500;
const pieceBytesMax = 2 ** 20;

/**
 * The events of these resources dated up to `asOf`, resource by resource, in pieces that fit into memory. The pieces are
 * several statements: without a lock or a snapshot, events that are stored meanwhile can be in them. Each is planned for the
 * table as it is: a plan that was made when the table was tiny would read all of it for each piece.
 */
export async function* eventsInPieces(
  sql: Sql,
  types: ResourceType[],
  externalIds: string[],
  asOf = "infinity",
): AsyncGenerator<EventRow[]> {
  let ids = [...new Set(externalIds)];
  let last: EventRow | undefined;
  while (ids.length > 0) {
    const position = [last?.resource_type ?? "", last?.timestamp ?? "-infinity", last?.event_type ?? ""];
    const values = [ids, types, asOf, ...position, pieceCountMax, pieceBytesMax];
    const rows: (EventRow & { is_last: boolean })[] = await sql.query(pieceStatement, values, "custom");
    if (rows.length > 0) yield rows;
    last = rows.at(-1);
    if (!last || rows.at(-1)?.is_last) return;
    ids = ids.slice(ids.indexOf(last.resource_external_id));
  }
}

/**
 * One scan for each resource, in the order of the unique index. The type is compared in a form that the index does not
 * have: as a condition of the index, it would lose the order.
 */
const pieceStatement = `
  with found as (
    select own.id, sum(bytes) over in_order - bytes as bytes_before, row_number() over in_order as number,
      count(*) over () as total
    from unnest($1::text[]) with ordinality as wanted (external_id, place)
    cross join lateral (
      select event.id, event.resource_type, event.timestamp, event.event_type, ${eventSize} as bytes from event
      where event.resource_external_id = wanted.external_id and event.resource_type || '' = any($2::text[])
        and event.timestamp <= $3
        and (event.resource_type, event.timestamp, event.event_type) > (
          case place when 1 then $4::text else '' end,
          case place when 1 then $5::timestamptz else '-infinity' end,
          case place when 1 then $6::text else '' end
        )
      order by event.resource_type, event.timestamp, event.event_type limit $7 + 1
    ) as own
    window in_order as (order by place, own.resource_type, own.timestamp, own.event_type)
  )
  select ${eventColumns}, number = total as is_last from found join event using (id)
  where number <= $7 and bytes_before < $8 order by number`;

/** Ids of the transactions with an event dated from an instant to another one, exclusive, up to `max`. */
export const idsDatedBetween = (sql: Sql, from: string, to: string, max: number): Promise<string[]> =>
  queryIds(
    sql,
    `select distinct resource_external_id as id from event
     where timestamp >= $1 and timestamp < $2 and resource_type = any($3::text[]) limit $4`,
    [from, to, transactionTypes, max],
  );

/** Ids of the transactions with an event dated up to `asOf` that names this parent. */
export const childIdsAsOf = (sql: Sql, parentExternalId: string, asOf: string): Promise<string[]> =>
  queryIds(
    sql,
    `select distinct resource_external_id as id from event
     where parent_resource_external_id = $1 and timestamp <= $2`,
    [parentExternalId, asOf],
  );
