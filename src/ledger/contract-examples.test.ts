import { afterAll, beforeAll, describe, expect, test } from "vitest";
import contract from "../../generated/ledger.json" with { type: "json" };
import { type Contract, operationsOf, type Parameter } from "../contract/operations.ts";
import { demoEvents } from "./commands/demo-events.ts";
import { startLedger } from "./ledger.fixture.ts";

let ledger: Awaited<ReturnType<typeof startLedger>>;
beforeAll(async () => {
  ledger = await startLedger();
  await ledger.send(...demoEvents());
  await ledger.until("/v1/transaction?account_id=demo", { total: 6 });
  await ledger.until("/v1/agreement/demo-agreement?account_id=demo", { payment_instrument: {} });
  // The demonstration sends valid messages only.
  await ledger.database.run(`
    insert into dead_letter (id, source_id, body, reason) overriding system value
    select n, 'demo' || n, '{}', 'event_type is required' from generate_series(1, 17) as n`);
});
afterAll(() => ledger[Symbol.asyncDispose]());

type ParameterWithExample = Parameter & { example?: unknown };
const operations = operationsOf(contract as unknown as Contract).filter(
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
      .filter((one) => !isAlwaysGiven(one))
      .map((one) => [operationId, pathWith([...alwaysGiven, one])]),
  ] as [operationId: string, path: string][];
});

describe("the parameter examples of the contract", () => {
  test.each(cases)("find demonstration data: %s %s", async (operationId, path) => {
    const { status, json } = await ledger.request(path);
    expect(status).toBe(200);
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
