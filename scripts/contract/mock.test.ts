import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
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

const env = { LEDGER_PORT: "0", FEATURES_PORT: "0", DATABASE_URL: "pglite:/nowhere", QUEUE_URL: "memory:" };
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

/** Sends a request, given as method and path, and the body as JSON. */
async function send(title: string, line: string, headers: Record<string, string> = {}, body?: unknown) {
  const [method, path] = line.split(" ") as ["GET", string];
  const response = await request(bases[title] + path, {
    method,
    headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return { status: response.statusCode, headers: response.headers, body: await response.body.text() };
}

const [ledger, features] = ["Payment ledger", "Feature storage"];
const any = "GET /v1/transaction/any";
const streams = ["application/json", "application/x-ndjson", "text/event-stream"];
const matching = { "if-match": "*" };
const problem = { accept: "application/problem+json" };
const notFound = /"type":"\/problems\/not-found","title":"Nothing matches the request","status":404,/;
const storeFailed = /"type":"\/problems\/store-failed","title":"The store failed","status":500,/;
test.each<[title: string, line: string, headers: Record<string, string>, body: unknown, number, RegExp]>([
  // The example that has the identifier in the path, or the first one.
  [ledger, "GET /v1/transaction/ref2d8h6", {}, undefined, 200, /"transaction_type":"REFUND"/],
  [ledger, "GET /v1/transaction/dis5p1", {}, undefined, 200, /"transaction_type":"DISPUTE"/],
  [ledger, any, {}, undefined, 200, /^.{0,200}"transaction_type":"PAYMENT"/],
  [ledger, "GET /v1/event/18", {}, undefined, 200, /"event_id":17\b/],
  [ledger, "GET /v1/transaction/", { accept: "text/csv" }, undefined, 200, /^Reference,/],
  // The example that a header selects.
  [ledger, any, { prefer: "code=404" }, undefined, 404, notFound],
  [ledger, any, { prefer: 'example="dispute"' }, undefined, 200, /"transaction_type":"DISPUTE"/],
  [ledger, any, { prefer: "respond-async, code=200; example=refund" }, undefined, 200, /"REFUND"/],
  [ledger, any, { prefer: "code=418" }, undefined, 400, /available: code=200, example=payment;/],
  [ledger, any, { prefer: "respond-async" }, undefined, 200, /"PAYMENT"/],
  [ledger, any, { prefer: 'Code="404"; code=200' }, undefined, 404, notFound],
  [ledger, "HEAD /v1/transaction/any", { prefer: "code=503" }, undefined, 503, /^$/],
  // Requests are validated as the service does.
  [ledger, `${any}?colour=red`, {}, undefined, 400, /"status":400,.*"parameter":"colour","rule":/],
  [ledger, "GET /v1/nothing", {}, undefined, 404, notFound],
  [ledger, "POST /v1/transaction/any", {}, undefined, 405, /"type":"\/problems\/method-not-allowed"/],
  [features, "PUT /features/customer/42", matching, [1], 400, /^body\/0 must be a text\n$/],
  [features, "PUT /features/customer/42", { ...matching, ...problem }, [1], 400, /"pointer":"\/0","rule":/],
  [features, "GET /features/a/b", { ...problem, prefer: "code=500" }, undefined, 500, storeFailed],
  [features, "PUT /features/customer/42", matching, ["dark-mode"], 200, /^\["dark-mode","beta search"\]\n$/],
  // No body where the contract has none; where a service streams, the response ends.
  [features, "DELETE /features/customer/42/dark-mode", {}, undefined, 204, /^$/],
  ...streams.map((accept) => [features, "GET /changes", { accept }, undefined, 200, /1f0c9a2b-18/] as never),
  ...["/docs", "/docs/queue", "/asyncapi.yaml", "/openapi.json", "/problems", "/problems/not-found"].map(
    (path) => [ledger, `GET ${path}`, {}, undefined, 200, /\w/] as never,
  ),
  [features, "GET /openapi.yaml", {}, undefined, 200, /title: Feature storage/],
])("%s: the mock answers %s with %j and %j", async (title, line, headers, body, status, text) => {
  const response = await send(title, line, headers, body);
  expect([response.status, response.body]).toEqual([status, expect.stringMatching(text)]);
  if (headers.accept) expect(mediaTypeOf(response.headers)).toBe(headers.accept);
});

test("only the named service is served, and an unknown name is rejected", async () => {
  const named = runMock("features");
  await named.waitForOutput("\n");
  expect(named.output()).toMatch(/^Feature storage: examples at /);
  named.child.kill("SIGTERM");
  expect((await named.exit).code).toBe(0);
  const errors = "mock: unknown: lodger; known: ledger, features, --help\n";
  expect(await runMock("lodger").exit).toMatchObject({ code: 2, errors });
});

/** A valid request for an operation: the examples of its required query parameters and of its body. */
function requestOf(contract: Contract, { path, key, method, parameters }: Operation) {
  const query = (parameters as (Parameter & { example: unknown })[])
    .filter(({ in: place, required }) => place === "query" && required)
    .map(({ name, example }): [string, string] => [name, String(example)]);
  const raw = contract.paths[path]?.[key] as { requestBody?: unknown } | undefined;
  const declared = follow(contract, raw?.requestBody) as DeclaredResponse | undefined;
  const [example] = Object.values(declared?.content?.["application/json"]?.examples ?? {});
  const { value: body } = (example ?? {}) as { value?: unknown };
  const line = `${method} ${path.replaceAll(/\{\w+\}/g, "1")}?${new URLSearchParams(query)}`;
  return { line, body };
}

test.each([ledgerService, featuresService])(
  "the mock can send every example of the contract: $contract.info.title",
  async ({ contract }) => {
    const violationOf = responseChecker(contract);
    for (const operation of operationsOf(contract)) {
      const { line, body } = requestOf(contract, operation);
      for (const [code, { content = { "*/*": { examples: { "": {} } } } }] of Object.entries(
        operation.responses,
      )) {
        const examples = Object.entries(content).flatMap(([type, { examples = {} }]) =>
          Object.keys(examples).map((name) => ({ operation: operation.operationId, code, type, name })),
        );
        expect(examples, line).not.toEqual([]);
        for (const example of examples) {
          const prefer = `code=${code}${example.name && `, example=${example.name}`}`;
          const response = await send(contract.info.title, line, { prefer, accept: example.type }, body);
          const type = example.name === "" ? "*/*" : mediaTypeOf(response.headers);
          const violation = violationOf(operation.operationId, response);
          const seen = { ...example, code: String(response.status), type, violation };
          expect(seen).toEqual({ ...example, violation: undefined });
        }
      }
    }
  },
);
