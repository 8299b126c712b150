import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Contract,
  type DeclaredResponse,
  follow,
  type Operation,
  operationsOf,
  type Parameter,
} from "../../src/contract/operations.ts";
import { mediaTypeOf, responseChecker } from "../../src/contract/response-check.ts";
import { featuresService } from "../../src/features/app.ts";
import { ledgerService } from "../../src/ledger/app.ts";
import { eventually } from "../../testing/eventually.ts";
import { run } from "../../testing/run.ts";

const env = {
  LEDGER_PORT: "0",
  FEATURES_PORT: "0",
  DATABASE_URL: "pglite:/nowhere",
  QUEUE_URL: "memory:",
};
const runMock = (...args: string[]) => run("scripts/contract/mock.ts", { args, env });
const mock = runMock();
const bases: Record<string, string> = {};
beforeAll(async () => {
  await eventually(() => expect(mock.output().match(/examples at/g)).toHaveLength(2));
  for (const [, title = "", base = ""] of mock.output().matchAll(/^([\w ]+): examples at (\S+),/gm))
    bases[title] = base;
});
afterAll(async () => {
  mock.child.kill("SIGINT");
  expect((await mock.exit).code).toBe(0);
});

async function send(
  title: string,
  path: string,
  headers: Record<string, string> = {},
  method = "GET",
  body?: unknown,
) {
  const type = body !== undefined && { "content-type": "application/json" };
  const response = await request(bases[title] + path, {
    method: method as "GET",
    headers: { ...headers, ...type },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return { status: response.statusCode, headers: response.headers, body: await response.body.text() };
}

/** A valid request for an operation: the examples of its required query parameters and of its body. */
function requestOf(contract: Contract, { path, method, parameters }: Operation) {
  const query = (parameters as (Parameter & { example: unknown })[])
    .filter(({ in: place, required }) => place === "query" && required)
    .map(({ name, example }): [string, string] => [name, String(example)]);
  const raw = contract.paths[path]?.[method.toLowerCase()] as { requestBody?: unknown } | undefined;
  const declared = follow(contract, raw?.requestBody) as DeclaredResponse | undefined;
  const [example] = Object.values(declared?.content?.["application/json"]?.examples ?? {});
  const { value: body } = (example ?? {}) as { value?: unknown };
  return { query: query.length > 0 ? `?${new URLSearchParams(query)}` : "", body };
}

const getFromLedger = async (path: string, headers?: Record<string, string>) => {
  const { status, body } = await send("Payment ledger", path, headers);
  return { status, json: JSON.parse(body) };
};

describe("the mock", () => {
  test("answers with the example that has the identifier in the path, or with the first example", async () => {
    expect(await getFromLedger("/v1/transaction/ref2d8h6")).toMatchObject({
      status: 200,
      json: { transaction_type: "REFUND" },
    });
    expect(await getFromLedger("/v1/transaction/dis5p1")).toMatchObject({
      json: { transaction_type: "DISPUTE" },
    });
    expect(await getFromLedger("/v1/transaction/any")).toMatchObject({
      json: { transaction_type: "PAYMENT" },
    });
    expect(await getFromLedger("/v1/event/18")).toMatchObject({ json: { event_id: 17 } });
    const csv = await send("Payment ledger", "/v1/transaction/", { accept: "text/csv" });
    expect([csv.headers["content-type"], csv.body.split("\n")]).toEqual([
      "text/csv; charset=utf-8",
      expect.any(Array),
    ]);
    expect(csv.body).toMatch(/^Reference,/);
  });

  test("answers with the example that the header Prefer selects", async () => {
    const prefer = (preference: string) => getFromLedger("/v1/transaction/any", { prefer: preference });
    expect(await prefer("code=404")).toMatchObject({ status: 404, json: { title: "Not Found" } });
    expect(await prefer('example="dispute"')).toMatchObject({
      status: 200,
      json: { transaction_type: "DISPUTE" },
    });
    expect(await prefer("respond-async, code=200; example=refund")).toMatchObject({
      json: { transaction_type: "REFUND" },
    });
    expect(await prefer("code=418")).toMatchObject({
      status: 400,
      json: { detail: expect.stringContaining("available: code=200, example=payment;") },
    });
    expect(await prefer("respond-async")).toMatchObject({ status: 200 });
    expect(await prefer('Code="404"; code=200')).toMatchObject({ status: 404 });
    const head = await send("Payment ledger", "/v1/transaction/any", { prefer: "code=503" }, "HEAD");
    expect([head.status, head.body]).toEqual([503, ""]);
  });

  test("sends no body where the contract has none, and ends the response where a service streams", async () => {
    const removed = await send("Feature storage", "/features/customer/42/dark-mode", {}, "DELETE");
    expect([removed.status, removed.body]).toEqual([204, ""]);
    for (const accept of ["application/json", "application/x-ndjson", "text/event-stream"]) {
      const changes = await send("Feature storage", "/changes", { accept });
      expect([changes.status, mediaTypeOf(changes.headers)]).toEqual([200, accept]);
      expect(changes.body).toContain("1f0c9a2b-18");
    }
    const list = ["dark-mode"];
    const replaced = await send("Feature storage", "/features/customer/42", { "if-match": "*" }, "PUT", list);
    expect([replaced.status, replaced.body]).toEqual([200, '["dark-mode","beta search"]\n']);
    const invalid = await send("Feature storage", "/features/customer/42", { "if-match": "*" }, "PUT", [1]);
    expect(invalid.status).toBe(400);
  });

  test("publishes the contracts", async () => {
    for (const path of ["/docs", "/docs/queue", "/asyncapi.yaml", "/openapi.json"]) {
      expect([path, (await send("Payment ledger", path)).status]).toEqual([path, 200]);
    }
    expect((await send("Feature storage", "/openapi.yaml")).status).toBe(200);
  });

  test("serves only the named service, and rejects an unknown name", async () => {
    const features = runMock("features");
    await features.waitForOutput("\n");
    expect(features.output()).toMatch(/^Feature storage: examples at /);
    features.child.kill("SIGTERM");
    expect((await features.exit).code).toBe(0);
    expect(await runMock("lodger").exit).toMatchObject({
      code: 2,
      errors: "mock: unknown: lodger; known: ledger, features, --help\n",
    });
  });

  test("validates requests as the service does", async () => {
    expect(await getFromLedger("/v1/transaction/any?colour=red")).toMatchObject({
      status: 400,
      json: { status: 400 },
    });
    expect(await getFromLedger("/v1/nothing")).toMatchObject({ status: 404 });
  });

  test.each([ledgerService, featuresService])(
    "can send every example of the contract: $contract.info.title",
    async ({ contract }) => {
      const violationOf = responseChecker(contract);
      for (const operation of operationsOf(contract)) {
        const { operationId, method, path, responses } = operation;
        const { query, body } = requestOf(contract, operation);
        const address = path.replaceAll(/\{\w+\}/g, "1") + query;
        for (const [status, { content = { "*/*": { examples: { "": {} } } } }] of Object.entries(responses)) {
          const examples = Object.entries(content).flatMap(([type, { examples = {} }]) =>
            Object.keys(examples).map((name) => [type, name] as const),
          );
          expect(examples, `${operationId} ${status}`).not.toEqual([]);
          for (const [accept, name] of examples) {
            const prefer = `code=${status}${name && `, example=${name}`}`;
            const response = await send(contract.info.title, address, { prefer, accept }, method, body);
            const violation = violationOf(operationId, response);
            const type = name === "" ? "*/*" : mediaTypeOf(response.headers);
            expect([operationId, name, type, response.status, violation]).toEqual([
              operationId,
              name,
              accept,
              Number(status),
              undefined,
            ]);
          }
        }
      }
    },
  );
});
