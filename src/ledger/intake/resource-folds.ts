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
export interface ResourceFold {
  type: ResourceType;
  /** The column of the external id. */
  key: string;
  /**
   * Reads the rows of these resources. Resolves with a function that folds their new events into the rows, or, for a
   * rebuild, all their events, and writes the rows that differ.
   */
  open(sql: Sql, externalIds: string[]): Promise<(added: EventRow[], isRebuild: boolean) => Promise<void>>;
  /** The rows of these resources, and what they should be by all events. */
  compare(sql: Sql, externalIds: string[]): Promise<{ rows: FoldedRow[]; projected: FoldedRow[] }>;
}

function foldOf<Row extends FoldedRow, State extends string>(
  type: ResourceType,
  table: ResourceTable<Row>,
  projection: Projection<Row, State>,
): ResourceFold {
  async function addAll(
    folds: Folds<Row, State>,
    sql: Sql,
    externalIds: string[],
  ): Promise<Map<string, Row>> {
    for await (const events of eventsInPieces(sql, [type], externalIds)) folds.add(events);
    return folds.rows();
  }
  return {
    type,
    key: table.key,
    async open(sql, externalIds) {
      const current = await table.rowsOf(sql, externalIds);
      return async (added, isRebuild) => {
        const before = new Map(isRebuild ? [] : current.map((row) => [row[table.key] as string, row]));
        const touched = isRebuild ? externalIds : added.map((event) => event.resource_external_id);
        const { bases, known, missing } = planFold(new Set(touched), added, before, new Map());
        const folds = new Folds(projection, bases);
        folds.add(known);
        const folded = await addAll(folds, sql, missing);
        await table.save(sql, [...folded.values()]);
        if (isRebuild)
          await table.remove(
            sql,
            externalIds.filter((id) => !folded.has(id)),
          );
      };
    },
    async compare(sql, externalIds) {
      const projected = await addAll(new Folds(projection), sql, externalIds);
      return { rows: await table.rowsOf(sql, externalIds), projected: [...projected.values()] };
    },
  };
}

export const resourceFolds: ResourceFold[] = [
  foldOf("payout", payoutTable, payoutProjection),
  foldOf("agreement", agreementTable, agreementProjection),
  foldOf("payment_instrument", paymentInstrumentTable, paymentInstrumentProjection),
];
