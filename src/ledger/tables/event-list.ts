import type { Sql } from "../../database/database.ts";
import {
  type EventRow,
  eventSize,
  type ListedEvent,
  listedColumns,
  type Resource,
  resourceColumnsOf,
  transactionTypes,
} from "./event.ts";
import type { PageLimits } from "./page.ts";

/** The place of an event in a list of events. */
export type EventPosition = Pick<
  EventRow,
  "timestamp" | "event_type" | "resource_type" | "resource_external_id"
>;

/**
 * The order of a list of events, oldest first: that of `compareNewestFirst`, reversed. `$1` is the order of event types with
 * the same timestamp.
 */
const orderOf = (column: (name: keyof EventPosition) => string) =>
  [
    column("timestamp"),
    `coalesce(array_position($1::text[], ${column("event_type")}), 0)`,
    `${column("event_type")} collate "C"`,
    `${column("resource_type")} collate "C"`,
    `${column("resource_external_id")} collate "C"`,
  ].join(", ");
const eventOrder = orderOf((name) => `event.${name}`);
/** The parameters of a statement with the position, after the life cycle. */
const positionParameters: Record<keyof EventPosition, string> = {
  timestamp: "$2::timestamptz",
  event_type: "$3::text",
  resource_type: "$4::text",
  resource_external_id: "$5::text",
};
const positionOrder = orderOf((name) => positionParameters[name]);
const positionValues = (lifeCycle: readonly string[], position: EventPosition | undefined) => [
  lifeCycle,
  position?.timestamp ?? "-infinity",
  position?.event_type ?? "",
  position?.resource_type ?? "",
  position?.resource_external_id ?? "",
];

/** A page of a list of events: those after a position, dated up to `asOf`. */
export interface EventPage extends PageLimits {
  /** Default: the list begins with the oldest event. */
  after?: EventPosition | undefined;
  asOf?: string | undefined;
}

/**
 * A page of the events of these resources, oldest first. `lifeCycle` is the order of event types with the same
 * timestamp.
 */
export async function listEvents(
  sql: Sql,
  resources: Resource[],
  lifeCycle: readonly string[],
  { after, asOf = "infinity", countMax, bytesMax }: EventPage,
): Promise<{ events: ListedEvent[]; isLast: boolean }> {
  const position = positionValues(lifeCycle, after);
  const values = [...position, ...resourceColumnsOf(resources), asOf, countMax, bytesMax];
  const rows = await sql.query<ListedEvent & { is_last: boolean }>(listStatement, values);
  return { events: rows, isLast: rows.at(-1)?.is_last ?? true };
}

/**
 * Each resource is one scan in the order of the unique index, which takes as long for a long history as for a short one.
 * Events with the timestamp of the last one found can come before it in the list.
 */
const listStatement = `
  with found as (
    select own.id, sum(bytes) over in_order - bytes as bytes_before, row_number() over in_order as number,
      count(*) over () as total
    from unnest($6::text[], $7::text[]) as wanted (wanted_type, external_id)
    cross join lateral (
      select event.*, ${eventSize} as bytes from event
      where event.resource_external_id = wanted.external_id and event.resource_type = wanted_type
        and event.timestamp between $2 and $8
        and (event.timestamp > $2 or (${eventOrder}) > (${positionOrder}))
      order by event.timestamp fetch first ($9 + 1) rows with ties
    ) as own
    window in_order as (order by ${orderOf((name) => `own.${name}`)})
  )
  select ${listedColumns()}, number = total as is_last from found join event using (id)
  where number <= $9 and bytes_before < $10 order by number`;

/** A page of the events of a transaction and its children, and the details of these, with their `amount` only. */
export interface FamilyEvents {
  events: ListedEvent[];
  isLast: boolean;
  family: { external_id: string; details: { amount?: unknown } }[];
}

/** The limits of a short history: the number of events, and the bytes of each and of the details of a transaction. */
const shortCountMax = 50;
const shortEventBytesMax = 2 ** 12;
const shortDetailsBytesMax = 2 ** 13;

/**
 * The events of a transaction and its children that belong to the account, in any order, with the amount of each, in one
 * statement that is always quick: undefined if there are more than 50, large ones, or none of the transaction itself.
 */
export async function listShortHistory(
  sql: Sql,
  externalId: string,
  accountId: string,
): Promise<FamilyEvents | undefined> {
  const values = [externalId, accountId, transactionTypes];
  const rows = await sql.query<ListedEvent & Record<"amount" | "is_whole", unknown>>(
    shortHistoryStatement,
    values,
  );
  const amounts = new Map(rows.map(({ resource_external_id, amount }) => [resource_external_id, amount]));
  const isWhole = rows.length <= shortCountMax && rows.every(({ is_whole }) => is_whole);
  if (!isWhole || !amounts.has(externalId)) return undefined;
  return {
    events: rows,
    isLast: true,
    family: Array.from(amounts, ([external_id, amount]) => ({ external_id, details: { amount } })),
  };
}

// A member with more events than a short history is not read at all: a plan may begin with all events of a resource.
const shortHistoryStatement = `
  select ${listedColumns("is_whole")}, is_whole, case when is_whole then details -> 'amount' end as amount
  from (
    select event.*, member.details,
      coalesce(event.bytes <= ${shortEventBytesMax}, false)
        and pg_column_size(member.details) <= ${shortDetailsBytesMax} as is_whole
    from transaction as member
    left join lateral (
      select event.*, ${eventSize} as bytes from event
      where event.resource_external_id = member.external_id and event.resource_type = any($3::text[])
        and member.event_count <= ${shortCountMax}
      limit ${shortCountMax + 1}
    ) as event on true
    where (member.external_id = $1 or member.parent_external_id = $1) and member.gateway_account_id = $2
    limit ${shortCountMax + 1}
  ) as event`;

/**
 * True for each state of a resource of which an event is in the list up to and including a position. `event_types` are those
 * that set the state.
 */
export async function haveEventsUntil(
  sql: Sql,
  states: (Resource & { event_types: string[] })[],
  lifeCycle: readonly string[],
  until: EventPosition,
): Promise<boolean[]> {
  const rows = await sql.query<{ exists: boolean }>(
    `select exists (
       select from event
       where event.resource_external_id = wanted.resource_external_id
         and event.resource_type = wanted.resource_type and wanted.event_types ? event.event_type
         and event.timestamp <= $2 and (${eventOrder}) <= (${positionOrder})
     )
     from jsonb_array_elements($6::jsonb) with ordinality as given (state, place)
     cross join jsonb_to_record(state) as wanted (resource_external_id text, resource_type text, event_types jsonb)
     order by place`,
    [...positionValues(lifeCycle, until), JSON.stringify(states)],
  );
  return rows.map(({ exists }) => exists);
}
