import { describe, expect, test } from "vitest";
import contract from "../../generated/ledger.json" with { type: "json" };
import { stateSetBy } from "../../src/ledger/projection/states.ts";
import type { TransactionState } from "../../src/ledger/tables/transaction.ts";
import { viewState } from "../../src/ledger/views/state.ts";
import type { LedgerEvent } from "./messages.ts";
import { agreementStatuses, Oracle } from "./oracle.ts";
import { agreementMatches } from "./oracle-agreements.ts";
import {
  groupColumns,
  payoutMatches,
  performanceOfInstants,
  reportGroups,
  transactionStateNames,
} from "./oracle-reports.ts";

/** The tables of the contract. The ledger's code is generated from them; the oracle has its own copy. */
const stateMachine = contract["x-state-machine"];
const { payment, refund, dispute } = contract["x-event-types"];
const rows: { event_type: string; state?: string }[] = [...payment.rows, ...refund.rows, ...dispute.rows];
const transactionEvents = rows.flatMap(({ event_type, state }) => (state ? [{ event_type, state }] : []));

interface StateRow {
  state: string;
  status: string;
  status_version_1?: string;
  finished: boolean;
  code?: string;
  message?: string;
}
const states = new Map(stateMachine.transaction_states.rows.map((row: StateRow) => [row.state, row]));
const csvStates: { state: string; payment?: string; refund?: string; dispute?: string }[] =
  stateMachine.csv_states.rows;

const timestamp = "2024-03-05T10:00:00.000000Z";
const eventOf = (event_type: string, change: Partial<LedgerEvent> = {}): LedgerEvent => ({
  resource_type: "payment",
  resource_external_id: "pay",
  parent_resource_external_id: null,
  timestamp,
  event_type,
  service_id: null,
  live: null,
  event_details: { gateway_account_id: "57" },
  ...change,
});

test.each([...transactionEvents, { event_type: "UNKNOWN_TYPE", state: "UNDEFINED" } as const])(
  "the ledger sets and shows the state of $event_type as the contract says",
  ({ event_type, state }) => {
    const { status, status_version_1 = status, finished, code, message } = states.get(state) as StateRow;
    expect(stateSetBy(event_type) ?? "UNDEFINED").toBe(state);
    expect(viewState(state as TransactionState, 1)).toEqual({
      status: status_version_1,
      finished,
      code,
      message,
    });
    expect(viewState(state as TransactionState, 2)).toEqual({ status, finished, code, message });
  },
);

describe("the oracle matches the contract", () => {
  test.each([...transactionEvents, { event_type: "UNKNOWN_TYPE", state: "UNDEFINED" }])(
    "for $event_type, which sets $state",
    ({ event_type, state }) => {
      const row = states.get(state) as StateRow;
      const oracle = new Oracle([eventOf(event_type)]);
      for (const version of ["1", "2"]) {
        const status = (version === "1" && row.status_version_1) || row.status;
        const { finished, code, message } = row;
        const shown = oracle.transaction("pay", { status_version: version }) as { state: object };
        expect(JSON.parse(JSON.stringify(shown.state))).toEqual({ status, finished, code, message });
      }
    },
  );

  test("for every state, as each except UNDEFINED is set by an event type", () => {
    const setByEvents = new Set(transactionEvents.map(({ state }) => state));
    expect([...states.keys()].filter((state) => !setByEvents.has(state as never))).toEqual(["UNDEFINED"]);
  });

  test.each(["payment", "refund", "dispute"] as const)("for the states in the CSV of a %s", (type) => {
    for (const { event_type, state } of transactionEvents) {
      const expected = csvStates.find((row) => row.state === state)?.[type] ?? "";
      const [header = [], cells = []] = new Oracle([eventOf(event_type, { resource_type: type })]).csvRows({
        account_id: "57",
      });
      expect([event_type, cells[header.indexOf("State")]]).toEqual([event_type, expected]);
    }
  });

  test("for the order of events with the same timestamp, whatever their order of arrival", () => {
    const types = ["A_TYPE", "Z_TYPE", ...transactionEvents.map(({ event_type }) => event_type)];
    for (const events of [types, types.toReversed()]) {
      const list = new Oracle(events.map((type) => eventOf(type))).eventList("pay", "57", {
        include_all_events: "true",
      }) as { events: { event_type: string }[] };
      expect(list.events.map(({ event_type }) => event_type)).toEqual(types);
    }
  });

  test("for the columns of a CSV", () => {
    const others = Array.from({ length: 100 }, (_, index) => `KEY ${String(index).padStart(2, "0")}`);
    const external_metadata = Object.fromEntries(["KEY", ...others].map((key) => [key, 1]));
    const details = { gateway_account_id: "57", external_metadata };
    const [header = []] = new Oracle([eventOf("PAYMENT_CREATED", { event_details: details })]).csvRows({
      account_id: "57",
      fee_headers: "true",
      moto_header: "true",
    });
    const shown = header.filter((name) => !others.some((key) => name === `${key} (metadata)`));
    expect(shown).toEqual(contract["x-csv"].columns.rows.map(({ column }) => column));
  });

  test("for the columns by which a report groups", () => {
    expect(groupColumns).toEqual(contract.components.schemas.GroupColumn.enum);
  });

  test("for the names of states", () => {
    expect(new Set(transactionStateNames)).toEqual(new Set(states.keys()));
  });

  test.each(transactionEvents)("for a report of live payments in state $state", ({ event_type, state }) => {
    const oracle = new Oracle([eventOf(event_type, { live: true })]);
    const others = transactionStateNames.filter((other) => other !== state);
    expect(performanceOfInstants(oracle, { state })).toMatchObject({ total_volume: 1n });
    for (const other of others) {
      expect(performanceOfInstants(oracle, { state: other })).toMatchObject({ total_volume: 0n });
    }
  });

  test.each([
    ["2024-03-31T00:59:59.999999Z", "2024-03-31"],
    ["2024-03-31T23:00:00.000000Z", "2024-04-01"],
    ["2024-10-26T23:00:00.000000Z", "2024-10-27"],
    ["2024-10-27T23:59:59.999999Z", "2024-10-27"],
    ["1971-01-31T23:00:00.000000Z", "1971-02-01"],
  ])("for the day of %s in London", (instant, day) => {
    const oracle = new Oracle([eventOf("PAYMENT_CREATED", { timestamp: instant })]);
    const groups = reportGroups(oracle, { group_by: "day", time_zone: "Europe/London" });
    expect(groups).toMatchObject([{ day, count: 1n }]);
  });

  test("for the first day of a week and of a month", () => {
    const timestamps = ["2024-03-31T22:00:00.000000Z", "2024-04-01T00:00:00.000000Z"];
    const oracle = new Oracle(
      timestamps.map((one) => eventOf("PAYMENT_CREATED", { resource_external_id: one, timestamp: one })),
    );
    expect(reportGroups(oracle, { group_by: "week,month" })).toMatchObject([
      { week: "2024-03-25", month: "2024-03-01", count: 1n },
      { week: "2024-04-01", month: "2024-04-01", count: 1n },
    ]);
  });

  test("for the amounts of a group: those that are missing count as 0", () => {
    const amounts = [{ amount: "-5" }, { amount: 10, total_amount: 12 }, {}];
    const oracle = new Oracle(
      amounts.map((event_details, index) =>
        eventOf("PAYMENT_CREATED", { resource_external_id: `pay-${index}`, event_details }),
      ),
    );
    expect(reportGroups(oracle, {})).toMatchObject([
      { count: 3n, amount: 5n, total_amount: 12n, gross_amount: 7n, fee: 0n },
    ]);
  });

  test("for the status of an agreement after each event type", () => {
    const rows = contract["x-event-types"].agreement.rows.map(({ event_type, state }) => [event_type, state]);
    expect(agreementStatuses).toEqual(rows);
    for (const [event_type = "", status] of [...rows, ["UNKNOWN_TYPE", "UNDEFINED"]]) {
      const oracle = new Oracle([eventOf(event_type, { resource_type: "agreement" })]);
      expect(agreementMatches(oracle, {})).toMatchObject([{ status }]);
    }
  });

  test.each(contract["x-event-types"].payout.rows)("for the state of a payout after $event_type", (row) => {
    const name = "state" in row ? row.state : "UNDEFINED";
    const shown = stateMachine.payout_states.rows.find(({ state }) => state === name);
    const oracle = new Oracle([eventOf(row.event_type, { resource_type: "payout" })]);
    const { status, finished } = shown as { status: string; finished: boolean };
    expect(payoutMatches(oracle, {})).toMatchObject([{ state: { status, finished } }]);
  });
});
