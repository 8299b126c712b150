import fc from "fast-check";
import { expect, test } from "vitest";
import type { EventRow } from "../tables/event.ts";
import { textOf } from "./details.ts";
import { arbitraryEvents, events, relatedEvents, shuffled } from "./events.fixture.ts";
import { type Bases, type FoldedRow, planFold } from "./history.ts";
import { metadataKeysOf, metadataOf } from "./metadata.ts";
import { foldPayouts, projectPayouts } from "./payout.ts";
import { foldTransactions, type OwnRow, projectTransactions, withPaymentDetails } from "./transaction.ts";

const anyEvents = fc.oneof(relatedEvents, arbitraryEvents);

/** Any events in batches of any size, in any order. */
const anyBatches = anyEvents.chain(shuffled).chain((all) =>
  fc.array(fc.integer({ min: 1, max: 5 })).map((sizes) => {
    const rest = [...all];
    return [...sizes.map((size) => rest.splice(0, size)), rest].filter((batch) => batch.length > 0);
  }),
);

const isOfPayout = ({ resource_type }: EventRow) => resource_type === "payout";
const idsIn = (all: EventRow[]) => [...new Set(all.map((event) => event.resource_external_id))];
const byId = (rows: { external_id: string }[]) =>
  rows.toSorted((a, b) => (a.external_id < b.external_id ? -1 : 1));

/** Folds each batch into the rows of the batches before. Reads only the events that the plan lists as missing. */
function foldInBatches<Row extends FoldedRow<unknown>>(
  batches: EventRow[][],
  fold: (events: EventRow[], bases: Bases<Row>) => Map<string, Row>,
  check: (rows: Map<string, Row>, stored: EventRow[]) => void,
): void {
  const stored: EventRow[] = [];
  const rows = new Map<string, Row>();
  for (const batch of batches) {
    stored.push(...batch);
    const { bases, known, missing } = planFold(idsIn(batch), batch, rows, new Map());
    const read = stored.filter((event) =>
      missing.some(
        ({ id, since }) =>
          id === event.resource_external_id && (since === "-infinity" || event.timestamp >= since),
      ),
    );
    for (const [id, row] of fold([...known, ...read], bases)) rows.set(id, row);
    check(rows, stored);
  }
}

test("folding batch by batch gives the transactions that folding all events gives", () => {
  fc.assert(
    fc.property(anyBatches, (all) => {
      const batches = all.map((batch) => batch.filter((event) => !isOfPayout(event)));
      foldInBatches<OwnRow>(batches, foldTransactions, (rows, stored) => {
        const shown = [...rows.values()].map((row) => withPaymentDetails(row, rows));
        expect(byId(shown)).toEqual(byId(projectTransactions(stored)));
      });
    }),
    { numRuns: 1000 },
  );
});

test("folding batch by batch gives the payouts that folding all events gives", () => {
  fc.assert(
    fc.property(anyBatches, (all) => {
      foldInBatches(
        all.map((batch) => batch.filter(isOfPayout)),
        foldPayouts,
        (rows, stored) => expect([...rows.values()]).toEqual(expect.arrayContaining(projectPayouts(stored))),
      );
    }),
    { numRuns: 1000 },
  );
});

test("each account that events of a payment name has every metadata key of these events", () => {
  fc.assert(
    fc.property(anyEvents, (all) => {
      const ofPayments = all.filter(({ resource_type }) => resource_type === "payment");
      const expected = idsIn(ofPayments).flatMap((id) => {
        const details = ofPayments
          .filter((event) => event.resource_external_id === id)
          .map(({ event_details }) => event_details);
        const keys = details.flatMap((details) => Object.keys(metadataOf(details)));
        const accounts = details.flatMap((details) => textOf(details, "gateway_account_id") ?? []);
        return accounts.flatMap((account) => keys.map((key) => `${account} ${key}`));
      });
      const rows = metadataKeysOf(projectTransactions(all.filter((event) => !isOfPayout(event))));
      expect(rows.map(({ gateway_account_id, key }) => `${gateway_account_id} ${key}`).sort()).toEqual(
        [...new Set(expected)].sort(),
      );
    }),
  );
});

const [first, second, third] = events("payment", "pay", ["10:00", "A"], ["10:01", "B"], ["10:02", "C"]) as [
  EventRow,
  EventRow,
  EventRow,
];
const rowsOf = (...all: EventRow[]) => foldTransactions(all, new Map());

test.each<[string, EventRow[], EventRow[], object]>([
  [
    "that are newer than those of the row are folded without a read",
    [first],
    [second, third],
    { known: [second, third], missing: [] },
  ],
  [
    "that are older than the newest of the row are read with all newer ones",
    [first, third],
    [second],
    { known: [], missing: [{ id: "pay", since: second.timestamp }] },
  ],
  [
    "with the timestamp of the newest of the row are read with it",
    [first],
    [{ ...second, timestamp: first.timestamp }],
    { known: [], missing: [{ id: "pay", since: first.timestamp }] },
  ],
  [
    "of a resource without a row are all read",
    [],
    [first],
    { known: [], missing: [{ id: "pay", since: "-infinity" }] },
  ],
])("events %s", (_title, folded, added, expected) => {
  expect(planFold(["pay"], added, rowsOf(...folded), new Map())).toMatchObject(expected);
});

test("events of a resource without a row are not read if the added ones are all of them", () => {
  const added = [first, second];
  expect(planFold(["pay"], added, new Map(), new Map([["pay", 2]]))).toMatchObject({
    known: added,
    missing: [],
  });
  expect(planFold(["pay"], added, new Map(), new Map([["pay", 3]])).missing).toHaveLength(1);
});

test("a row whose event count differs from its fold state is folded from all events", () => {
  const row = { ...(rowsOf(first).get("pay") as OwnRow), event_count: 2 };
  const plan = planFold(["pay"], [third], new Map([["pay", row]]), new Map([["pay", null]]));
  expect(plan).toEqual({ bases: new Map(), known: [], missing: [{ id: "pay", since: "-infinity" }] });
});
