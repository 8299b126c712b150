import fc from "fast-check";
import { expect, test } from "vitest";
import type { EventRow } from "../tables/event.ts";
import { textOf } from "./details.ts";
import { events, family, shuffled, tangle } from "./events.fixture.ts";
import { type Bases, type FoldedRow, planFold } from "./history.ts";
import { metadataKeysOf, metadataOf } from "./metadata.ts";
import { foldPayouts, projectPayouts } from "./payout.ts";
import { foldTransactions, type OwnRow, projectTransactions, withPaymentDetails } from "./transaction.ts";

const any = fc.oneof(family, tangle);

/** Any events, in batches of any size, in any order. */
const batches = any.chain(shuffled).chain((all) =>
  fc.array(fc.integer({ min: 1, max: 5 })).map((sizes) => {
    const left = [...all];
    return [...sizes.map((size) => left.splice(0, size)), left].filter((batch) => batch.length > 0);
  }),
);

const isOfPayout = ({ resource_type }: EventRow) => resource_type === "payout";
const idsIn = (all: EventRow[]) => [...new Set(all.map((event) => event.resource_external_id))];
const byId = (rows: { external_id: string }[]) =>
  rows.toSorted((a, b) => (a.external_id < b.external_id ? -1 : 1));

/** Folds batch after batch onto the rows before, reading no other events than those that are asked for. */
function goOn<Row extends FoldedRow<unknown>>(
  parts: EventRow[][],
  fold: (events: EventRow[], bases: Bases<Row>) => Map<string, Row>,
  check: (rows: Map<string, Row>, stored: EventRow[]) => void,
): void {
  const stored: EventRow[] = [];
  const rows = new Map<string, Row>();
  for (const batch of parts) {
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
    fc.property(batches, (all) => {
      const parts = all.map((batch) => batch.filter((event) => !isOfPayout(event)));
      goOn<OwnRow>(parts, foldTransactions, (rows, stored) => {
        const shown = [...rows.values()].map((row) => withPaymentDetails(row, rows));
        expect(byId(shown)).toEqual(byId(projectTransactions(stored)));
      });
    }),
    { numRuns: 1000 },
  );
});

test("and so do payouts", () => {
  fc.assert(
    fc.property(batches, (all) => {
      goOn(
        all.map((batch) => batch.filter(isOfPayout)),
        foldPayouts,
        (rows, stored) => expect([...rows.values()]).toEqual(expect.arrayContaining(projectPayouts(stored))),
      );
    }),
    { numRuns: 1000 },
  );
});

test("for each account that events of a payment ever named, every metadata key they ever had is kept", () => {
  fc.assert(
    fc.property(any, (all) => {
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
const keptOf = (...all: EventRow[]) => foldTransactions(all, new Map());

test.each<[string, EventRow[], EventRow[], object]>([
  ["newer than the row's are at hand", [first], [second, third], { known: [second, third], missing: [] }],
  [
    "that are not are read with all that is newer",
    [first, third],
    [second],
    { known: [], missing: [{ id: "pay", since: second.timestamp }] },
  ],
  [
    "at the instant of the row's newest are read with it",
    [first],
    [{ ...second, timestamp: first.timestamp }],
    { known: [], missing: [{ id: "pay", since: first.timestamp }] },
  ],
  [
    "of what has no row are all read",
    [],
    [first],
    { known: [], missing: [{ id: "pay", since: "-infinity" }] },
  ],
])("events %s", (_title, kept, added, expected) => {
  expect(planFold(["pay"], added, keptOf(...kept), new Map())).toMatchObject(expected);
});

test("events of what has no row need not be read when they are all there are", () => {
  const added = [first, second];
  expect(planFold(["pay"], added, new Map(), new Map([["pay", 2]]))).toMatchObject({
    known: added,
    missing: [],
  });
  expect(planFold(["pay"], added, new Map(), new Map([["pay", 3]])).missing).toHaveLength(1);
});

test("a row that counts other events than its fold is folded from all of them", () => {
  const row = { ...(keptOf(first).get("pay") as OwnRow), event_count: 2 };
  const found = planFold(["pay"], [third], new Map([["pay", row]]), new Map([["pay", null]]));
  expect(found).toEqual({ bases: new Map(), known: [], missing: [{ id: "pay", since: "-infinity" }] });
});
