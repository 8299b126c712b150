import { describe, expect, test } from "vitest";
import contract from "../../generated/ledger.json" with { type: "json" };
import { stateSetBy } from "../../src/ledger/projection/states.ts";
import { viewState } from "../../src/ledger/views/state.ts";
import type { LedgerEvent } from "./messages.ts";
import { Oracle, transactionStates } from "./oracle.ts";
import { groupColumns, reportGroups } from "./oracle-reports.ts";

/** The tables of the contract. The ledger's code is generated from them; the oracle reads them. */
const { payment, refund, dispute } = contract["x-event-types"];
const rows: { event_type: string; state?: string }[] = [...payment.rows, ...refund.rows, ...dispute.rows];
const transactionEvents = rows.flatMap(({ event_type, state }) => (state ? [{ event_type, state }] : []));

const eventOf = (event_type: string, change: Partial<LedgerEvent> = {}): LedgerEvent => ({
  resource_type: "payment",
  resource_external_id: "pay",
  parent_resource_external_id: null,
  timestamp: "2024-03-05T10:00:00.000000Z",
  event_type,
  service_id: null,
  live: null,
  event_details: { gateway_account_id: "57" },
  ...change,
});

test.each([...transactionEvents, { event_type: "UNKNOWN_TYPE", state: "UNDEFINED" }])(
  "the ledger and the oracle show the state $state after $event_type",
  ({ event_type, state }) => {
    const set = stateSetBy(event_type) ?? "UNDEFINED";
    expect(set).toBe(state);
    const oracle = new Oracle([eventOf(event_type)]);
    for (const version of [1, 2] as const) {
      const shown = oracle.transaction("pay", { status_version: String(version) }) as { state: object };
      expect(viewState(set, version)).toEqual(shown.state);
    }
  },
);

describe("the oracle", () => {
  test("knows every state, as each except UNDEFINED is set by an event type", () => {
    const setByEvents = new Set(["UNDEFINED", ...transactionEvents.map(({ state }) => state)]);
    expect(setByEvents).toEqual(new Set(transactionStates));
  });

  test("orders events with the same timestamp as the contract lists them, whatever their order of arrival", () => {
    const types = ["A_TYPE", "Z_TYPE", ...transactionEvents.map(({ event_type }) => event_type)];
    const query = { include_all_events: "true" };
    for (const events of [types, types.toReversed()]) {
      const list = new Oracle(events.map((type) => eventOf(type))).eventList("pay", "57", query);
      expect((list as { events: { event_type: string }[] }).events.map((event) => event.event_type)).toEqual(
        types,
      );
    }
  });

  test("groups by every column of the contract", () => {
    expect(groupColumns).toEqual(contract.components.schemas.GroupColumn.enum);
    const timestamps = ["2024-03-31T00:59:59.999999Z", "2024-03-31T23:00:00.000000Z"];
    const oracle = new Oracle(
      timestamps.map((timestamp) =>
        eventOf("PAYMENT_CREATED", { resource_external_id: timestamp, timestamp }),
      ),
    );
    const group_by = "day,week,month";
    expect(reportGroups(oracle, { group_by })).toMatchObject([
      { day: "2024-03-31", week: "2024-03-25", month: "2024-03-01", count: 2n },
    ]);
    expect(reportGroups(oracle, { group_by, time_zone: "Europe/London" })).toMatchObject([
      { day: "2024-03-31", week: "2024-03-25", month: "2024-03-01", count: 1n },
      { day: "2024-04-01", week: "2024-04-01", month: "2024-04-01", count: 1n },
    ]);
  });
});
