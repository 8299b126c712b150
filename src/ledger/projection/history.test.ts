import fc from "fast-check";
import { expect, test } from "vitest";
import { type EventRow, transactionTypes } from "../tables/event.ts";
import type { TransactionState } from "../tables/transaction.ts";
import { agreementProjection } from "./agreement.ts";
import {
  arbitraryEvents,
  events,
  project,
  projectTransactions,
  relatedEvents,
  shuffled,
} from "./events.fixture.ts";
import { type FoldedRow, Folds, type Projection, planFold } from "./history.ts";
import { paymentInstrumentProjection } from "./payment-instrument.ts";
import { payoutProjection } from "./payout.ts";
import { type OwnRow, transactionProjection, withPaymentDetails } from "./transaction.ts";

/** Any events in batches of any size, in any order. */
const anyBatches = fc
  .oneof(relatedEvents, arbitraryEvents)
  .chain(shuffled)
  .chain((all) =>
    fc.array(fc.integer({ min: 1, max: 5 })).map((sizes) => {
      const rest = [...all];
      return [...sizes.map((size) => rest.splice(0, size)), rest].filter((batch) => batch.length > 0);
    }),
  );

const isOfTransaction = ({ resource_type }: EventRow) => transactionTypes.includes(resource_type);
const idsIn = (all: EventRow[]) => [...new Set(all.map((event) => event.resource_external_id))];
const byId = (rows: { external_id: string }[]) =>
  rows.toSorted((a, b) => (a.external_id < b.external_id ? -1 : 1));

/** The database changes the order of members. */
const reversed = (details: object) => Object.fromEntries(Object.entries(details).reverse());

/** Folds each batch into the rows of the batches before. Reads only the events that the plan lists as missing. */
function foldInBatches<Row extends Base, State extends string, Base extends FoldedRow>(
  batches: EventRow[][],
  projection: Projection<Row, State, Base>,
  check: (rows: Map<string, Row>, stored: EventRow[]) => void,
): void {
  const stored: EventRow[] = [];
  const rows = new Map<string, Row>();
  for (const batch of batches) {
    stored.push(...batch);
    const { bases, known, missing } = planFold(idsIn(batch), batch, rows, new Map());
    const folds = new Folds(projection, bases);
    folds.add(known);
    folds.add(stored.filter((event) => missing.includes(event.resource_external_id)));
    for (const [id, row] of folds.rows()) rows.set(id, { ...row, details: reversed(row.details) });
    check(rows, stored);
  }
}

test("folding batch by batch gives the transactions that folding all events gives", () => {
  fc.assert(
    fc.property(anyBatches, (all) => {
      const batches = all.map((batch) => batch.filter(isOfTransaction));
      foldInBatches(
        batches,
        transactionProjection as Projection<OwnRow, TransactionState>,
        (rows, stored) => {
          const shown = [...rows.values()].map((row) => withPaymentDetails(row, rows));
          expect(byId(shown)).toEqual(byId(projectTransactions(stored)));
        },
      );
    }),
    { numRuns: 1000 },
  );
});

const alone: [string, Projection<FoldedRow, string>][] = [
  ["payout", payoutProjection as never],
  ["agreement", agreementProjection as never],
  ["payment_instrument", paymentInstrumentProjection as never],
];

test.each(alone)(
  "folding batch by batch gives the row of a %s that folding all events gives",
  (type, projection) => {
    fc.assert(
      fc.property(anyBatches, (all) => {
        const batches = all.map((batch) => batch.filter(({ resource_type }) => resource_type === type));
        foldInBatches(batches, projection, (rows, stored) =>
          expect([...rows.values()]).toEqual(expect.arrayContaining(project(projection, stored))),
        );
      }),
      { numRuns: 1000 },
    );
  },
);

const [first, second, third] = events("payment", "pay", ["10:00", "A"], ["10:01", "B"], ["10:02", "C"]) as [
  EventRow,
  EventRow,
  EventRow,
];
function rowsOf(...all: EventRow[]) {
  const folds = new Folds(transactionProjection);
  folds.add(all);
  return folds.rows();
}

const changedRow = (change: (row: OwnRow) => Partial<OwnRow>) => {
  const row = rowsOf(first).get("pay") as OwnRow;
  return new Map([["pay", { ...row, ...change(row) }]]);
};
const otherCount = changedRow(() => ({ event_count: 2 }));
const withoutOrigins = changedRow(({ folded }) => ({ folded: { ...folded, origins: undefined } as never }));

const none = new Map();
const unknown = new Map([["pay", null]]);
test.each<
  [title: string, rows: Map<string, OwnRow>, added: EventRow[], counts: Map<string, number | null>, boolean]
>([
  ["newer than those of a row", rowsOf(first), [second, third], none, false],
  ["older than those of a row", rowsOf(second, third), [first], none, false],
  ["as old as those of a row", rowsOf(first), [{ ...second, timestamp: first.timestamp }], none, false],
  ["of a resource without a row", none, [first], none, true],
  ["that are all of a resource without a row", none, [first, second], new Map([["pay", 2]]), false],
  ["that are not all of a resource without a row", none, [first, second], new Map([["pay", 3]]), true],
  ["of a row with another event count than its fold state", otherCount, [third], unknown, true],
  ["of a row of the previous release", withoutOrigins, [third], unknown, true],
])("events %s are folded with a read of all, or without a read", (_title, rows, added, counts, isRead) => {
  const withoutRead = { bases: rows, known: added, missing: [] };
  const withRead = { bases: new Map(), known: [], missing: ["pay"] };
  expect(planFold(["pay"], added, rows, counts)).toEqual(isRead ? withRead : withoutRead);
});
