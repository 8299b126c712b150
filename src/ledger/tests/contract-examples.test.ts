import { describe, expect, test } from "vitest";
import { demoEvents, demoTransactions } from "../../../scripts/demo/demo-events.ts";
import { eventually } from "../../../testing/eventually.ts";
import { ledgerContract } from "../../contract/contracts.ts";
import { operationsOf, type Parameter } from "../../contract/operations.ts";
import { ledgerOfFile } from "./ledger.fixture.ts";

const ledger = await ledgerOfFile();
await ledger.send(...demoEvents());
await ledger.until("/v1/transaction?account_id=demo", { total: 6 });
await ledger.until("/v1/agreement/demo-agreement?account_id=demo", { payment_instrument: {} });
// The demonstration sends valid messages only.
await ledger.database.run(`
  insert into dead_letter (id, source_id, body, reason) overriding system value
  select n, 'demo' || n, '{}', 'event_type is required' from generate_series(1, 17) as n;
  -- As if everything was stored before the day of known_at.
  delete from instant_position;
  insert into instant_position
  select instant, sql_transaction from (values (timestamptz '2024-01-01Z', 1), ('2024-12-01Z', null)) as one (instant, first)
  cross join lateral (select coalesce(first, max(sql_transaction) + 1) as sql_transaction from transaction_change) as last`);

test("the demonstration's events, of which some are repeated, give its transactions", async () => {
  const expected = Object.fromEntries(demoTransactions.map(({ id, status }) => [id, status]));
  await eventually(async () => {
    const found: { transaction_id: string; state: { status: string } }[] = (
      await ledger.get("/v1/transaction?account_id=demo")
    ).results;
    expect(Object.fromEntries(found.map((one) => [one.transaction_id, one.state.status]))).toEqual(expected);
  });
  const { events } = await ledger.get("/v1/transaction/demo-success/event?gateway_account_id=demo");
  expect(events).toHaveLength(6);
});

type ParameterWithExample = Parameter & { example?: unknown };
const operations = operationsOf(ledgerContract).filter(
  ({ path, method }) => path.startsWith("/v1") && method === "GET",
);
const exampleOf = ({ example }: ParameterWithExample) => encodeURIComponent([example].flat().join(","));

const cases = operations.flatMap(({ operationId, path, parameters }) => {
  const isReport = path.startsWith("/v1/report/");
  const isAlwaysGiven = ({ required, name }: Parameter) =>
    required ||
    ["account_id", "gateway_account_id", "group_by"].includes(name) ||
    (isReport && ["from_date", "to_date"].includes(name));
  const pathWith = (chosen: ParameterWithExample[]) => {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
      exampleOf(parameters.find((one) => one.name === name) as ParameterWithExample),
    );
    const query = chosen.filter((one) => one.in === "query").map((one) => `${one.name}=${exampleOf(one)}`);
    return `${filled}?${query.join("&")}`;
  };
  const alwaysGiven = parameters.filter(isAlwaysGiven);
  return [
    [operationId, pathWith(alwaysGiven)],
    ...parameters
      // A cursor belongs to one ledger.
      .filter((one) => !isAlwaysGiven(one) && !["cursor", "at_least"].includes(one.name))
      .map((one) => [operationId, pathWith([...alwaysGiven, one])]),
  ] as [operationId: string, path: string][];
});

describe("the parameter examples of the contract", () => {
  test.each(cases)("find demonstration data: %s %s", async (operationId, path) => {
    const json = await ledger.get(path);
    const found = {
      searchTransactions: json.results,
      listTransactionEvents: json.events,
      listChildTransactions: json.transactions,
      listTickerEvents: json,
      getTransactionReport: json.groups,
      listTransactionsByHour: json,
      listGatewayPerformance: json,
      searchPayouts: json.results,
      searchAgreements: json.results,
      listAgreementEvents: json.events,
      listDeadLetters: json.dead_letters,
    }[operationId] ?? [json];
    expect(found).not.toEqual([]);
  });

  test("exist for each parameter", () => {
    const without = operations.flatMap(({ parameters }) =>
      parameters.filter((one) => (one as ParameterWithExample).example === undefined).map(({ name }) => name),
    );
    expect(without).toEqual([]);
  });
});
