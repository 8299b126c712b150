import { afterAll, beforeAll, expect, test } from "vitest";
import { describeAuthentication } from "../../testing/describe-authentication.ts";
import { type Issuer, openIssuer } from "../../testing/issuer.ts";
import { featureSamples } from "../../testing/requests.ts";
import { startFeatures } from "./features.fixture.ts";

let issuer: Issuer;
let service: Awaited<ReturnType<typeof startFeatures>>;
const disposables = new AsyncDisposableStack();
beforeAll(async () => {
  issuer = disposables.use(await openIssuer());
  service = disposables.use(await startFeatures({ security: issuer.security }));
});
afterAll(() => disposables.disposeAsync());

describeAuthentication(featureSamples, () => ({ base: service.base, issuer }));

test("a rejected request adds nothing", async () => {
  const path = "/features/customer/43/beta";
  const reader = { authorization: `Bearer ${await issuer.sign({ scope: "features:read" })}` };
  expect((await service.request("POST", path)).status).toBe(401);
  expect((await service.request("POST", path, { headers: reader })).status).toBe(403);
  expect((await service.request("GET", path, { headers: reader })).text).toBe('{"result":false}\n');
});
