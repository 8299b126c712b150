import { type Sql, StatementTimeout } from "../../database/database.ts";
import { type FoldedRow, Folds, type Projection } from "../projection/history.ts";
import { type EventRow, eventsInPieces, type ResourceType } from "../tables/event.ts";

/**
 * The state as of an instant: the events dated up to it, whenever they arrived, are folded by the fold that also writes the
 * tables. A transaction, its children and its payment must belong to the account now, too, and an agreement also to the
 * service. That is checked first, by their rows, since folding a long history takes time. Reading the state takes as long as
 * the limit at most, in milliseconds.
 */
export const pastAsOf = (sql: Sql, asOf: string, limitMs: number) => ({
  sql,
  asOf,
  limitMs,
  /** The time of `performance.now()` after which reading rejects with `StatementTimeout`. */
  deadline: performance.now() + limitMs,
});
export type Past = ReturnType<typeof pastAsOf>;

/** The events of these resources up to the instant, in pieces. */
export async function* pastEvents(
  { sql, asOf, limitMs, deadline }: Past,
  types: ResourceType[],
  externalIds: string[],
): AsyncGenerator<EventRow[]> {
  for await (const events of eventsInPieces(sql, types, externalIds, asOf)) {
    if (performance.now() > deadline) throw new StatementTimeout(limitMs);
    yield events;
  }
}

/** The row of one resource; undefined if it has no event up to the instant. */
export async function foldPast<Row extends Base, State extends string, Base extends FoldedRow>(
  past: Past,
  types: ResourceType[],
  projection: Projection<Row, State, Base>,
  externalId: string,
): Promise<Row | undefined> {
  const folds = new Folds(projection);
  for await (const events of pastEvents(past, types, [externalId])) folds.add(events);
  return folds.rows().get(externalId);
}

/** True if a row has all values that are given. */
export const hasValues = <Row extends object>(row: Row, values: { [Name in keyof Row]?: unknown }): boolean =>
  Object.entries(values).every(([name, value]) => value === undefined || row[name as keyof Row] === value);
