import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startFeatures } from "../../src/features/tests/features.fixture.ts";
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

  const has = [true, "TARGETING_MATCH", "on", null];
  const hasNot = [false, "STATIC", "off", null];
  const failed = (error: string) => [true, "ERROR", null, error];

  test("evaluates flags that a resource has, and others", async () => {
    expect(await evaluate(service.base, "customer/42", ["dark-mode", "beta search", "never"])).toEqual({
      ...{ "dark-mode": has, "beta search": has, never: hasNot },
      "as a text": ["default", "ERROR", null, "TYPE_MISMATCH"],
    });
  });

  test.each([
    ["customer/never", hasNot],
    ["nobody", failed("INVALID_CONTEXT")],
    ["", failed("TARGETING_KEY_MISSING")],
  ])("a flag of the context %j, whose default is true, is %j", async (targetingKey, details) => {
    const evaluated = await evaluate(service.base, targetingKey, ["dark-mode"]);
    expect(evaluated).toMatchObject({ "dark-mode": details });
  });

  test("sends the configured token", async () => {
    await using issuer = await openIssuer();
    await using secured = await startFeatures({ security: issuer.security });
    const token = await issuer.sign({ scope: "features:read features:write" });
    const headers = { authorization: `Bearer ${token}` };
    await secured.request("POST", "/features/customer/42/dark-mode", { headers });
    const evaluated = await evaluate(secured.base, "customer/42", ["dark-mode"], token);
    expect(evaluated).toMatchObject({ "dark-mode": has });
    const without = await evaluate(secured.base, "customer/42", ["dark-mode"]);
    expect(without).toMatchObject({ "dark-mode": failed("GENERAL") });
  });
});
