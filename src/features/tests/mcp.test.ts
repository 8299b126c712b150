import { describe, expect, test } from "vitest";
import { openIssuer } from "../../../testing/issuer.ts";
import { type McpMode, mcpModes, openMcpClient } from "../../../testing/mcp-client.ts";
import { startFeatures } from "./features.fixture.ts";

const customer = { resource: "customer", id: "../42" };
const feature = "beta search/%";

/** A call of each tool in order, with its result. */
const calls: [name: string, given: object, result: unknown][] = [
  ["addFeature", { ...customer, feature, expires_at: "2037-03-05T09:14:22.018Z" }, { result: true }],
  ["hasFeature", { ...customer, feature }, { result: true }],
  ["listFeatures", customer, [feature]],
  ["listResources", { resource: "customer", feature, count: true }, { ids: ["../42"], count: 1 }],
  ["listKinds", {}, { kinds: ["customer"] }],
  ["listFeaturesInUse", { resource: "customer" }, { features: [{ feature, count: 1 }] }],
  [
    "getResource",
    customer,
    expect.objectContaining({ features: [{ feature, expires_at: expect.any(String) }] }),
  ],
  [
    "hasFeatures",
    { resources: [customer], features: [feature, "x"] },
    { results: [{ ...customer, has: [true, false] }] },
  ],
  ["listEntries", { resource: "customer" }, { entries: [expect.objectContaining({ ...customer, feature })] }],
  ["removeFeature", { ...customer, feature }, "204 No Content"],
  [
    "listResourceChanges",
    customer,
    expect.objectContaining({ changes: [expect.anything(), expect.anything()] }),
  ],
  ["listChanges", {}, expect.objectContaining({ changes: [expect.anything(), expect.anything()] })],
];

describe.each(Object.keys(mcpModes) as McpMode[])("a client of %s", (mode) => {
  test("lists the tools and calls each of them", async () => {
    await using features = await startFeatures({ mcp: true });
    await using mcp = await openMcpClient(features.base, mode);
    const { tools } = await mcp.client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(calls.map(([name]) => name).sort());
    expect(JSON.stringify(tools).length).toBeLessThan(10_000);
    for (const [name, given, result] of calls) {
      const { isError, text } = await mcp.call(name, { ...given });
      expect([name, isError, /^\d/.test(text) ? text : JSON.parse(text)]).toEqual([name, false, result]);
    }
  });
});

test("llms.txt names the tools, if they are served", async () => {
  await using features = await startFeatures({ mcp: true });
  await using without = await startFeatures();
  expect((await features.request("GET", "/llms.txt")).text).toContain("](mcp)");
  expect((await without.request("GET", "/llms.txt")).text).not.toContain("](mcp)");
  expect((await without.request("POST", "/mcp", { body: {} })).status).toBe(404);
});

test("changes are marked, and those that remove as destructive", async () => {
  await using features = await startFeatures({ mcp: true });
  await using mcp = await openMcpClient(features.base);
  const { tools } = await mcp.client.listTools();
  const marked = (hint: "readOnlyHint" | "destructiveHint" | "idempotentHint", value: boolean) =>
    tools.flatMap(({ name, annotations }) => (annotations?.[hint] === value ? name : []));
  expect(marked("readOnlyHint", false)).toEqual(["addFeature", "removeFeature"]);
  expect(marked("destructiveHint", true)).toEqual(["removeFeature"]);
  expect(marked("idempotentHint", false)).toEqual([]);
});

test("errors are problem documents, and a list without pages that is too large is one", async () => {
  await using features = await startFeatures({ mcp: true });
  await using mcp = await openMcpClient(features.base);
  const wrong = await mcp.call("hasFeatures", { resources: [customer], features: ["x"], more: 1 });
  expect([wrong.isError, JSON.parse(wrong.text)]).toEqual([
    true,
    expect.objectContaining({ status: 400, detail: "body/more is unknown; known: resources, features" }),
  ]);
  const changes = Array.from({ length: 100 }, (_, index) => ({
    ...{ type: "add", resource: "customer", id: "many", feature: `${"f".repeat(250)}${index}` },
  }));
  await features.request("POST", "/changes", { body: { changes } });
  const { isError, text } = await mcp.call("listFeatures", { resource: "customer", id: "many" });
  expect([isError, text]).toEqual([
    true,
    expect.stringMatching(
      /^the response \(200\) has \d+ bytes.*; read it with GET http:.*\/features\/customer\/many$/,
    ),
  ]);
  const { entries, next_cursor } = JSON.parse(
    (await mcp.call("listEntries", { resource: "customer", limit: 100 })).text,
  );
  expect([entries.length, typeof next_cursor]).toEqual([50, "string"]);
});

test("a token needs the scope of the tool", async () => {
  await using issuer = await openIssuer();
  await using features = await startFeatures({ mcp: true, security: issuer.security });
  const headers = { authorization: `Bearer ${await issuer.sign({ scope: "features:read" })}` };
  await using mcp = await openMcpClient(features.base, "2026-07-28", headers);
  expect((await mcp.call("listFeatures", customer)).isError).toBe(false);
  const { isError, text } = await mcp.call("addFeature", { ...customer, feature });
  expect([isError, JSON.parse(text).status]).toEqual([true, 403]);
  expect((await features.request("POST", "/mcp", { body: {} })).status).toBe(401);
});
