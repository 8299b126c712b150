import { request as undiciRequest } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { operations } from "../../generated/features.ts";
import { openIssuer } from "../../testing/issuer.ts";
import { operationsOf } from "../contract/operations.ts";
import { openLog } from "../process/log.ts";
import { featuresApp, featuresService } from "./app.ts";
import { openFeatureStore } from "./store/store.ts";

let issuer: Awaited<ReturnType<typeof openIssuer>>;
let base: string;
const violations: string[] = [];
const disposables = new AsyncDisposableStack();
beforeAll(async () => {
  issuer = disposables.use(await openIssuer());
  const store = disposables.use(await openFeatureStore("memory:"));
  const app = await featuresApp({
    store,
    security: issuer.security,
    log: openLog("silent"),
    onViolation: (violation) => violations.push(violation),
  });
  base = await disposables.use(app).listen({ port: 0, host: "127.0.0.1" });
});
afterAll(async () => {
  await disposables.disposeAsync();
  expect(violations).toEqual([]);
});

type Method = "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
async function request(method: Method, path: string, token?: string, body?: unknown) {
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { "content-type": "application/json" }),
    "if-match": "*",
  };
  const response = await undiciRequest(base + path, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
  return {
    status: response.statusCode,
    challenge: response.headers["www-authenticate"],
    text: await textOf(response),
  };
}

/** The text of a response, or the start of an endless stream. */
async function textOf({ headers, body }: Awaited<ReturnType<typeof undiciRequest>>): Promise<string> {
  if (!headers["content-type"]?.includes("text/event-stream")) return await body.text();
  for await (const chunk of body) return String(chunk);
  return "";
}

type TestRequest = [method: Method, path: string, scope: string, body?: unknown];
const customer = { resource: "customer", id: "42" };
const context = { targetingKey: "customer/42" };

/** A request of each operation and the scope it requires; undefined if the operation requires no token. */
const requests: Record<keyof operations, TestRequest | undefined> = {
  checkHealth: undefined,
  getMetrics: undefined,
  listFeatures: ["GET", "/features/customer/42", "features:read"],
  hasFeature: ["GET", "/features/customer/42/beta", "features:read"],
  addFeature: ["POST", "/features/customer/42/beta", "features:write"],
  removeFeature: ["DELETE", "/features/customer/42/beta", "features:write"],
  replaceFeatures: ["PUT", "/features/customer/42", "features:write", ["beta"]],
  removeFeatures: ["DELETE", "/features/customer/42", "features:write"],
  getResource: ["GET", "/resources/customer/42", "features:read"],
  listResourceChanges: ["GET", "/resources/customer/42/changes", "features:read"],
  listResources: ["GET", "/features/customer?feature=beta", "features:read"],
  hasFeatures: ["POST", "/query", "features:read", { resources: [customer], features: ["beta"] }],
  changeFeatures: [
    "POST",
    "/changes",
    "features:write",
    { changes: [{ type: "add", ...customer, feature: "x" }] },
  ],
  listEntries: ["GET", "/features?resource=customer", "features:read"],
  listChanges: ["GET", "/changes", "features:read"],
  evaluateFlag: ["POST", "/ofrep/v1/evaluate/flags/beta", "features:read", { context }],
  evaluateFlags: ["POST", "/ofrep/v1/evaluate/flags", "features:read", { context }],
  followFlags: ["GET", "/ofrep/v1/events?resource=customer&id=42", "features:read"],
};

test("every operation is tested", () => {
  expect(
    operationsOf(featuresService.contract)
      .map(({ operationId }) => operationId)
      .sort(),
  ).toEqual(Object.keys(requests).sort());
});

describe.each(Object.values(requests).filter((request) => request !== undefined))(
  "%s %s",
  (method, path, required, body) => {
    const errorText = (message: string) =>
      path.startsWith("/ofrep/") ? `${JSON.stringify({ errorDetails: message })}\n` : `${message}\n`;

    test("requires its scope; another scope answers 403", async () => {
      for (const scope of ["features:read", "features:write", "ledger:read:all", "features", undefined]) {
        const token = await issuer.sign({ scope });
        const { status, challenge, text } = await request(method, path, token, body);
        expect([scope, status < 300]).toEqual([scope, scope === required]);
        if (scope === required) continue;
        expect({ status, challenge, text }).toEqual({
          status: 403,
          challenge: `Bearer error="insufficient_scope", scope="${required}"`,
          text: errorText(`the token's claim scope lacks the scope ${required}`),
        });
      }
      const both = await issuer.sign({ scope: "features:read features:write" });
      expect((await request(method, path, both, body)).status).toBeLessThan(300);
    });

    test("checks the token before the rest of the request", async () => {
      const invalid = `${path}${path.includes("?") ? "&" : "?"}surplus=1`;
      for (const target of [path, invalid]) {
        expect(await request(method, target)).toEqual({
          status: 401,
          challenge: `Bearer scope="${required}"`,
          text: errorText("the header Authorization must be Bearer and a token"),
        });
        if (method === "GET") expect((await request("HEAD", target)).status).toBe(401);
      }
      const token = await issuer.sign({ scope: required });
      expect((await request(method, invalid, token, body)).status).toBe(400);
    });

    test("rejects every invalid token", async () => {
      for (const [name, token] of Object.entries(await issuer.invalidTokens({ scope: required }))) {
        expect([name, (await request(method, path, token)).status]).toEqual([name, 401]);
      }
    });
  },
);

test("a rejected request adds nothing", async () => {
  const path = "/features/customer/43/beta";
  const reader = await issuer.sign({ scope: "features:read" });
  await request("POST", path);
  await request("POST", path, reader);
  expect((await request("GET", path, reader)).text).toBe('{"result":false}\n');
});

test.each(["/metrics", "/docs", "/openapi.yaml", "/openapi.json", "/.well-known/api-catalog"])(
  "%s requires no token",
  async (path) => {
    expect((await request("GET", path)).status).toBe(200);
  },
);
