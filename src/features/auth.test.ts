import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { operations } from "../../generated/features.ts";
import { openIssuer } from "../../testing/issuer.ts";
import { operationsOf } from "../contract/operations.ts";
import { openLog } from "../process/log.ts";
import { featuresApp, featuresService } from "./app.ts";
import { openFeatureStore } from "./store/store.ts";

let issuer: Awaited<ReturnType<typeof openIssuer>>;
let base: string;
const strays: string[] = [];
const kept = new AsyncDisposableStack();
beforeAll(async () => {
  issuer = kept.use(await openIssuer());
  const store = kept.use(await openFeatureStore("memory:"));
  const app = await featuresApp({
    store,
    security: issuer.security,
    log: openLog("silent"),
    onViolation: (fault) => strays.push(fault),
  });
  base = await kept.use(app).listen({ port: 0, host: "127.0.0.1" });
});
afterAll(async () => {
  await kept.disposeAsync();
  expect(strays).toEqual([]);
});

type Method = "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
async function ask(method: Method, path: string, token?: string, sent?: unknown) {
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(sent !== undefined && { "content-type": "application/json" }),
    "if-match": "*",
  };
  const asked = { method, headers, body: sent === undefined ? null : JSON.stringify(sent) };
  const { statusCode, headers: told, body } = await request(base + path, asked);
  return { status: statusCode, challenge: told["www-authenticate"], text: await body.text() };
}

type Asked = [method: Method, path: string, takes: string, sent?: unknown];
const one = { resource: "customer", id: "42" };
const context = { targetingKey: "customer/42" };

/** A request of each operation, and the scope it takes; none where nobody is asked. */
const requests: Record<keyof operations, Asked | undefined> = {
  getMetrics: undefined,
  listFeatures: ["GET", "/features/customer/42", "features:read"],
  hasFeature: ["GET", "/features/customer/42/beta", "features:read"],
  addFeature: ["POST", "/features/customer/42/beta", "features:write"],
  removeFeature: ["DELETE", "/features/customer/42/beta", "features:write"],
  replaceFeatures: ["PUT", "/features/customer/42", "features:write", ["beta"]],
  removeFeatures: ["DELETE", "/features/customer/42", "features:write"],
  listResources: ["GET", "/features/customer?feature=beta", "features:read"],
  hasFeatures: ["POST", "/query", "features:read", { resources: [one], features: ["beta"] }],
  changeFeatures: [
    "POST",
    "/changes",
    "features:write",
    { changes: [{ type: "add", ...one, feature: "x" }] },
  ],
  listChanges: ["GET", "/changes", "features:read"],
  evaluateFlag: ["POST", "/ofrep/v1/evaluate/flags/beta", "features:read", { context }],
  evaluateFlags: ["POST", "/ofrep/v1/evaluate/flags", "features:read", { context }],
};

test("every operation is tried", () => {
  expect(
    operationsOf(featuresService.contract)
      .map(({ operationId }) => operationId)
      .sort(),
  ).toEqual(Object.keys(requests).sort());
});

describe.each(Object.values(requests).filter((asked) => asked !== undefined))(
  "%s %s",
  (method, path, takes, sent) => {
    const refusal = (message: string) =>
      path.startsWith("/ofrep/") ? `${JSON.stringify({ errorDetails: message })}\n` : `${message}\n`;

    test("takes its scope and no other", async () => {
      for (const scope of ["features:read", "features:write", "ledger:read:all", "features", undefined]) {
        const { status, challenge, text } = await ask(method, path, await issuer.sign({ scope }), sent);
        expect([scope, status < 300]).toEqual([scope, scope === takes]);
        if (scope === takes) continue;
        expect({ status, challenge, text }).toEqual({
          status: 403,
          challenge: `Bearer error="insufficient_scope", scope="${takes}"`,
          text: refusal(`the token lacks the scope ${takes}`),
        });
      }
      const both = await issuer.sign({ scope: "features:read features:write" });
      expect((await ask(method, path, both, sent)).status).toBeLessThan(300);
    });

    test("asks for a token before it looks at the request", async () => {
      const bad = `${path}${path.includes("?") ? "&" : "?"}surplus=1`;
      for (const one of [path, bad]) {
        expect(await ask(method, one)).toEqual({
          status: 401,
          challenge: `Bearer scope="${takes}"`,
          text: refusal("the header Authorization must be Bearer and a token"),
        });
        if (method === "GET") expect((await ask("HEAD", one)).status).toBe(401);
      }
      expect((await ask(method, bad, await issuer.sign({ scope: takes }), sent)).status).toBe(400);
    });

    test("takes no forged token", async () => {
      for (const [name, token] of Object.entries(await issuer.forgeries({ scope: takes }))) {
        expect([name, (await ask(method, path, token)).status]).toEqual([name, 401]);
      }
    });
  },
);

test("what is refused is not added", async () => {
  const path = "/features/customer/43/beta";
  const reader = await issuer.sign({ scope: "features:read" });
  await ask("POST", path);
  await ask("POST", path, reader);
  expect((await ask("GET", path, reader)).text).toBe('{"result":false}\n');
});

test.each(["/metrics", "/docs", "/openapi.yaml", "/openapi.json", "/.well-known/api-catalog"])(
  "%s asks for no token",
  async (path) => {
    expect((await ask("GET", path)).status).toBe(200);
  },
);
