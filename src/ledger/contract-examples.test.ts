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
});
afterAll(() => ledger[Symbol.asyncDispose]());

type Exemplified = Parameter & { example?: unknown };
const operations = operationsOf(contract as unknown as Contract).filter(({ path }) => path.startsWith("/v1"));
const exampleOf = ({ example }: Exemplified) => encodeURIComponent([example].flat().join(","));

const cases = operations.flatMap(({ operationId, path, parameters }) => {
  const isNeeded = ({ required, name }: Parameter) => required || name === "account_id";
  const asked = (chosen: Exemplified[]) => {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
      exampleOf(parameters.find((one) => one.name === name) as Exemplified),
    );
    const query = chosen.filter((one) => one.in === "query").map((one) => `${one.name}=${exampleOf(one)}`);
    return `${filled}?${query.join("&")}`;
  };
  const needed = parameters.filter(isNeeded);
  return [
    [operationId, asked(needed)],
    ...parameters.filter((one) => !isNeeded(one)).map((one) => [operationId, asked([...needed, one])]),
  ] as [operationId: string, path: string][];
});

describe("the examples of parameters find something of the demonstration", () => {
  test.each(cases)("%s %s", async (operationId, path) => {
    const { status, json } = await ledger.ask(path);
    expect(status).toBe(200);
    const found = {
      searchTransactions: json.results,
      listTransactionEvents: json.events,
      listChildTransactions: json.transactions,
    }[operationId] ?? [json];
    expect(found).not.toEqual([]);
  });

  test("and each parameter has one", () => {
    const without = operations.flatMap(({ parameters }) =>
      parameters.filter((one) => (one as Exemplified).example === undefined).map(({ name }) => name),
    );
    expect(without).toEqual([]);
  });
});
