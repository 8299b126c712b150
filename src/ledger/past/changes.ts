import type { Sql } from "../../database/database.ts";
import { letOthersRun } from "../../waiting/turns.ts";
import { projectFrom } from "../projection/transaction.ts";
import { type EventRow, eventsInPieces, transactionTypes } from "../tables/event.ts";
import type { RecordedChange } from "../tables/known/changed.ts";
import { eventsWithPlaces, isKnownPlace, type KnownPosition, type Place } from "../tables/known/position.ts";
import type { TransactionRow } from "../tables/transaction.ts";

/** A change of a transaction: by an event of its own or of its payment, or by a rebuild, which has no event. */
export interface TransactionChange extends RecordedChange {
  event: (EventRow & Place) | undefined;
  before: TransactionRow | undefined;
  after: TransactionRow | undefined;
}

/**
 * The changes between two positions, event by event: the transaction before each event and after it. Without events of its
 * SQL transaction, a change is a rebuild.
 */
export async function changesByEvent(
  sql: Sql,
  recorded: RecordedChange[],
  since: KnownPosition,
  until: KnownPosition,
): Promise<TransactionChange[]> {
  const histories = await historiesOf(sql, [...new Set(recorded.map(({ external_id }) => external_id))]);
  const changes: TransactionChange[] = [];
  for (const one of recorded) {
    await letOthersRun();
    const { external_id, sql_transaction } = one;
    const history = histories(external_id);
    const own = history.filter((event) => event.sql_transaction === sql_transaction);
    const between = own.filter((event) => isKnownPlace(event, until) && !isKnownPlace(event, since));
    if (own.length === 0) changes.push({ ...one, event: undefined, before: undefined, after: undefined });
    const [first] = between;
    let before = first && (await rowOf(external_id, history.slice(0, history.indexOf(first))));
    for (const event of between) {
      const after = await rowOf(external_id, history.slice(0, history.indexOf(event) + 1));
      changes.push({ ...one, event, before, after });
      before = after;
    }
  }
  return changes.sort(
    (a, b) =>
      Number(a.sql_transaction - b.sql_transaction) || Number((a.event?.id ?? 0n) - (b.event?.id ?? 0n)),
  );
}

type PlacedEvent = EventRow & Place;

/** The events of each of these transactions and of all parents that they name, in the order of storage. */
async function historiesOf(sql: Sql, ids: string[]): Promise<(id: string) => PlacedEvent[]> {
  const events = new Map<string, PlacedEvent[]>();
  const read = async (some: string[]) => {
    for await (const piece of eventsInPieces(sql, transactionTypes, some))
      for (const event of await eventsWithPlaces(sql, piece))
        events.set(event.resource_external_id, [...(events.get(event.resource_external_id) ?? []), event]);
  };
  const parentsOf = (id: string) =>
    new Set((events.get(id) ?? []).flatMap((event) => event.parent_resource_external_id ?? []));
  await read(ids);
  const parents = new Set(ids.flatMap((id) => [...parentsOf(id)]));
  await read([...parents.difference(new Set(ids))]);
  return (id) =>
    [id, ...parentsOf(id)]
      .flatMap((one) => events.get(one) ?? [])
      .sort((a, b) => Number(a.sql_transaction - b.sql_transaction) || Number(a.id - b.id));
}

async function rowOf(id: string, events: PlacedEvent[]): Promise<TransactionRow | undefined> {
  async function* of(ids: string[]) {
    yield events.filter((event) => ids.includes(event.resource_external_id));
  }
  const [row] = await projectFrom(of, [id]);
  return row;
}
