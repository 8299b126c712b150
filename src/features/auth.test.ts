import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { operations } from "../../generated/features.ts";
import { openIssuer } from "../service/issuer.fixture.ts";
import { openLog } from "../service/log.ts";
import { operationsOf } from "../service/operations.ts";
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
    onStrayReply: (fault) => strays.push(fault),
  });
  base = await kept.use(app).listen({ port: 0, host: "127.0.0.1" });
});
afterAll(async () => {
  await kept.disposeAsync();
  expect(strays).toEqual([]);
});

async function ask(method: "GET" | "HEAD" | "POST", path: string, token?: string) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { statusCode, headers: told, body } = await request(base + path, { method, headers });
  return { status: statusCode, challenge: told["www-authenticate"], text: await body.text() };
}

type Asked = [method: "GET" | "POST", path: string, takes: string];

/** A request of each operation, and the scope it takes; none where nobody is asked. */
const requests: Record<keyof operations, Asked | undefined> = {
  getMetrics: undefined,
  listFeatures: ["GET", "/features/customer/42", "features:read"],
  hasFeature: ["GET", "/features/customer/42/beta", "features:read"],
  addFeature: ["POST", "/features/customer/42/beta", "features:write"],
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
  (method, path, takes) => {
    test("takes its scope and no other", async () => {
      for (const scope of ["features:read", "features:write", "ledger:read:all", "features", undefined]) {
        const { status, challenge, text } = await ask(method, path, await issuer.sign({ scope }));
        expect([scope, status < 300]).toEqual([scope, scope === takes]);
        if (scope === takes) continue;
        expect({ status, challenge, text }).toEqual({
          status: 403,
          challenge: `Bearer error="insufficient_scope", scope="${takes}"`,
          text: `the scope of the token is not enough; a token with the scope ${takes} would do\n`,
        });
      }
      const both = await issuer.sign({ scope: "features:read features:write" });
      expect((await ask(method, path, both)).status).toBeLessThan(300);
    });

    test("asks for a token before it looks at the request", async () => {
      const bad = `${path}?surplus=1`;
      for (const one of [path, bad]) {
        expect(await ask(method, one)).toEqual({
          status: 401,
          challenge: `Bearer scope="${takes}"`,
          text: "the header Authorization must be Bearer and a token\n",
        });
        if (method === "GET") expect((await ask("HEAD", one)).status).toBe(401);
      }
      expect((await ask(method, bad, await issuer.sign({ scope: takes }))).status).toBe(400);
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
