import type { Sql } from "../../database/database.ts";
import { agreementProjection } from "../projection/agreement.ts";
import { type FoldedRow, Folds, type Projection, planFold } from "../projection/history.ts";
import { paymentInstrumentProjection } from "../projection/payment-instrument.ts";
import { payoutProjection } from "../projection/payout.ts";
import { agreementTable } from "../tables/agreement.ts";
import { type EventRow, eventsInPieces, type ResourceType } from "../tables/event.ts";
import { paymentInstrumentTable } from "../tables/payment-instrument.ts";
import { payoutTable } from "../tables/payout.ts";
import type { ResourceTable } from "../tables/resource-table.ts";

/** How the rows of resources of a type are folded from their own events alone. */
function foldOf<Row extends FoldedRow, State extends string>(
  type: ResourceType,
  table: ResourceTable<Row>,
  projection: Projection<Row, State>,
) {
  async function addAll(folds: Folds<Row, State>, sql: Sql, externalIds: string[]) {
    for await (const events of eventsInPieces(sql, [type], externalIds)) folds.add(events);
    return folds.rows();
  }
  return {
    type,
    /** The column of the external id. */
    key: table.key,
    /**
     * Reads the rows of these resources. Resolves with a function that folds their new events into the rows, or, for a
     * rebuild, all their events, and writes the rows that differ.
     */
    async open(sql: Sql, externalIds: string[]) {
      const current = await table.rowsOf(sql, externalIds);
      return async (added: EventRow[], isRebuild: boolean) => {
        const before = new Map(isRebuild ? [] : current.map((row) => [row[table.key] as string, row]));
        const touched = isRebuild ? externalIds : added.map((event) => event.resource_external_id);
        const { bases, known, missing } = planFold(new Set(touched), added, before, new Map());
        const folds = new Folds(projection, bases);
        folds.add(known);
        const folded = await addAll(folds, sql, missing);
        await table.save(sql, [...folded.values()]);
        const removed = isRebuild ? externalIds.filter((id) => !folded.has(id)) : [];
        await table.remove(sql, removed);
      };
    },
    /** The rows of these resources, and what they should be by all events. */
    async compare(sql: Sql, externalIds: string[]) {
      const projected = await addAll(new Folds(projection), sql, externalIds);
      return { rows: await table.rowsOf(sql, externalIds), projected: [...projected.values()] };
    },
  };
}

export const resourceFolds = [
  foldOf("payout", payoutTable, payoutProjection),
  foldOf("agreement", agreementTable, agreementProjection),
  foldOf("payment_instrument", paymentInstrumentTable, paymentInstrumentProjection),
];
