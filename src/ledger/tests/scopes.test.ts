import { describe, expect, test } from "vitest";
import { story } from "../../../testing/messages.ts";
import { operationsOf, type Parameter } from "../../contract/operations.ts";
import { ledgerService } from "../app.ts";
import { feedIsComplete } from "../tables/feed/feed.fixture.ts";
import { ledgerOfFile } from "./ledger.fixture.ts";

const ledger = await ledgerOfFile();

/** Parameters that restrict the rows that a caller can see. */
const scopes = ["account_id", "gateway_account_id", "service_id"];

const operations = operationsOf(ledgerService.contract).filter(({ method }) => method === "GET");
const cases = operations.flatMap(({ path, parameters }) =>
  parameters
    .filter((parameter) => parameter.in === "query" && scopes.includes(parameter.name))
    .map((scope) => ({ path, parameters, scope })),
);

test("every parameter that names accounts or services is declared as a scope", () => {
  expect(cases.length).toBeGreaterThan(15);
  expect(cases.filter(({ scope }) => scope["x-scope"] !== true)).toEqual([]);
});

/** An example of each parameter that an operation requires or with which it needs no account, besides a scope. */
const others = ({ parameters, scope }: (typeof cases)[number]) =>
  parameters
    .filter(
      ({ in: place, name, required }) =>
        place === "query" && name !== scope.name && (required || /^override/.test(name)),
    )
    .map(
      ({ name, example }: Parameter & { example?: unknown }) =>
        `&${name}=${name.startsWith("override") ? "true" : example}`,
    )
    .join("");

describe.each(cases)("$scope.name of $path", (one) => {
  const path = one.path.replaceAll(/\{\w+\}/g, "1");
  const { name } = one.scope;
  const given = (query: string) => ledger.request(`${path}?${query}${others(one)}`);

  test("is rejected if it is blank, also where it is optional", async () => {
    for (const blank of ["", "%20", "+", "%09%0A%0D%0B%0C", ",", "%20,,%20"])
      for (const query of [
        `${name}=${blank}`,
        `${name}[]=${blank}`,
        `${name}=${blank}&${name}=${blank}`,
        name,
      ])
        expect([query, (await given(query)).status]).toEqual([query, 400]);
  });

  test("is a name if it has any other character", async () => {
    for (const account of [
      "\u2028",
      "\ufeff",
      "\u00a0",
      "\u3000",
      "\u0085",
      " 57",
      "0",
      "null",
      "undefined",
    ]) {
      const { status, json } = await given(`${name}=${encodeURIComponent(account)}`);
      expect([account, status]).toEqual([account, [200, 404].find((one) => one === status)]);
      expect(JSON.stringify(json)).not.toContain("of-57");
    }
  });
});

test.each(["\u2028", "\ufeff", "\u00a0", " 57", "57 ", "null", "*", "%", "'"])(
  "what is stored for the account %j can be read with it, and with no other",
  async (account) => {
    const id = `named-${encodeURIComponent(account).replaceAll("%", "x").replaceAll("*", "y").replaceAll("'", "z")}`;
    await ledger.store(
      story("payment", id, ["09:14:22", "PAYMENT_CREATED", { gateway_account_id: account }]),
    );
    await feedIsComplete(ledger.database);
    const encoded = encodeURIComponent(account);
    expect(await ledger.get(`/v1/transaction/${id}?account_id=${encoded}`)).toMatchObject({
      transaction_id: id,
    });
    const found = await ledger.get(`/v1/transaction?account_id=${encoded}`);
    expect(found.results.map((one: { transaction_id: string }) => one.transaction_id)).toEqual([id]);
    expect((await ledger.get(`/v1/event?account_id=${encoded}`)).events).toHaveLength(1);
    expect((await ledger.request(`/v1/transaction/${id}?account_id=57`)).status).toBe(404);
  },
);
