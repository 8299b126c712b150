import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startFeatures } from "../../src/features/features.fixture.ts";
import { outputOf } from "../../testing/child-process.ts";
import { describeIfAvailable } from "../../testing/describe-if-available.ts";
import { openIssuer } from "../../testing/issuer.ts";
import { root } from "../../testing/project.ts";
import { pythonTools } from "./python-tools.ts";

const tools = await pythonTools(["openfeature-provider-ofrep==0.3.0", "openfeature-sdk==0.10.0"]);
const python = "folder" in tools ? join(tools.folder, "python") : undefined;

const program = join(root, "examples/openfeature-python/flags.py");

/** The value, reason, variant and error of each flag, of which the default is true. */
async function evaluate(url: string, targetingKey: string, flags: string[], token = "") {
  const command = [python ?? "", program, url, targetingKey, ...flags];
  return JSON.parse(await outputOf(command, { env: { ...process.env, TOKEN: token } }));
}

describeIfAvailable("Python with pip", python !== undefined)("OpenFeature's provider for Python", () => {
  let service: Awaited<ReturnType<typeof startFeatures>>;
  beforeAll(async () => {
    service = await startFeatures();
    for (const feature of ["dark-mode", "beta%20search"])
      await service.request("POST", `/features/customer/42/${feature}`);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test("evaluates flags that a resource has, and others", async () => {
    expect(await evaluate(service.base, "customer/42", ["dark-mode", "beta search", "never"])).toEqual({
      "dark-mode": [true, "TARGETING_MATCH", "on", null],
      "beta search": [true, "TARGETING_MATCH", "on", null],
      never: [false, "STATIC", "off", null],
      "as a text": ["default", "ERROR", null, "TYPE_MISMATCH"],
    });
    expect(await evaluate(service.base, "customer/never", ["dark-mode"])).toMatchObject({
      "dark-mode": [false, "STATIC", "off", null],
    });
  });

  test("returns the default and the error for a context that names no resource", async () => {
    expect(await evaluate(service.base, "nobody", ["dark-mode"])).toMatchObject({
      "dark-mode": [true, "ERROR", null, "INVALID_CONTEXT"],
    });
    expect(await evaluate(service.base, "", ["dark-mode"])).toMatchObject({
      "dark-mode": [true, "ERROR", null, "TARGETING_KEY_MISSING"],
    });
  });

  test("sends the configured token", async () => {
    await using issuer = await openIssuer();
    await using secured = await startFeatures({ security: issuer.security });
    const token = await issuer.sign({ scope: "features:read features:write" });
    const headers = { authorization: `Bearer ${token}` };
    await secured.request("POST", "/features/customer/42/dark-mode", { headers });
    expect(await evaluate(secured.base, "customer/42", ["dark-mode"], token)).toMatchObject({
      "dark-mode": [true, "TARGETING_MATCH", "on", null],
    });
    expect(await evaluate(secured.base, "customer/42", ["dark-mode"])).toMatchObject({
      "dark-mode": [true, "ERROR", null, "GENERAL"],
    });
  });
});
