import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { featuresContract, ledgerContract } from "../../../src/contract/contracts.ts";
import { operationsOf } from "../../../src/contract/operations.ts";
import { root } from "../../../testing/project.ts";

interface Route {
  path: string;
  pathType: "Exact" | "Prefix";
}

interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: { rules: { http: { paths: Route[] } }[] };
}

async function routesOf(service: string): Promise<Route[]> {
  const text = await readFile(join(root, "deploy/kubernetes/network.yaml"), "utf8");
  const manifests = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
  const ingress = manifests.find(({ kind, metadata }) => kind === "Ingress" && metadata.name === service);
  return ingress?.spec.rules.flatMap(({ http }) => http.paths) ?? [];
}

const isRouted = (path: string, routes: Route[]): boolean =>
  routes.some((route) =>
    route.pathType === "Exact" ? path === route.path : `${path}/`.startsWith(`${route.path}/`),
  );

const published = [
  "/",
  "/docs",
  "/docs/docs.css",
  "/console",
  "/console/console.js",
  "/problems",
  "/problems/x",
];
const descriptions = ["/openapi.yaml", "/openapi-3.2.yaml", "/openapi.json", "/.well-known/api-catalog"];
const forModels = ["/llms.txt", "/mcp"];

test.each([
  { service: "ledger", contract: ledgerContract, others: ["/asyncapi.yaml"] },
  { service: "features", contract: featuresContract, others: [] },
])(
  "the Ingress of $service routes to what callers use, and not to its health",
  async ({ service, contract, others }) => {
    const routes = await routesOf(service);
    const operations = operationsOf(contract);
    const ofHealth = operations.filter(({ tags }) => tags.includes("health")).map(({ path }) => path);
    const ofCallers = operations.map(({ path }) => path).filter((path) => !ofHealth.includes(path));
    const expected = [...ofCallers, ...published, ...descriptions, ...forModels, ...others];
    expect(expected.filter((path) => !isRouted(path, routes))).toEqual([]);
    expect(ofHealth.filter((path) => isRouted(path, routes))).toEqual([]);
    expect(ofHealth).toHaveLength(2);
  },
);
