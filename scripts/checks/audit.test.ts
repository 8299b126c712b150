import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { newFolder, run } from "../../testing/run.ts";
import { type Lock, lockFaults, type Manifest, manifestFaults, readReport } from "./audit/lock-file.ts";

const valid = { version: "1.0.0", integrity: "sha512-x", license: "MIT" };
const knownScripts = { "with-script": "its binaries are packages" };
const licences = ["MIT", "ISC"];

describe("the check of a lock file", () => {
  test.each<[faults: string[], packages: Lock["packages"]]>([
    [[], { "": { license: "none" }, "node_modules/plain": valid }],
    [["plain has no integrity hash"], { "node_modules/plain": { ...valid, integrity: undefined } }],
    [
      ["@scope/deep does not come from the registry: https://elsewhere.test/deep.tgz"],
      {
        "node_modules/plain/node_modules/@scope/deep": {
          ...valid,
          resolved: "https://elsewhere.test/deep.tgz",
        },
      },
    ],
    [
      ["plain has an install script that is not in the list of known ones"],
      { "node_modules/plain": { ...valid, hasInstallScript: true } },
    ],
    [
      ["with-script no longer has an install script"],
      { "node_modules/with-script": { ...valid, hasInstallScript: undefined } },
    ],
    [["with-script no longer has an install script"], { "node_modules/with-script": undefined }],
    [
      ["the licence of plain is GPL-3.0-only"],
      { "node_modules/plain": { ...valid, license: "GPL-3.0-only" } },
    ],
    [["the licence of plain is not stated"], { "node_modules/plain": { ...valid, license: undefined } }],
    [
      ["the licence of plain is (MIT OR GPL-3.0)"],
      { "node_modules/plain": { ...valid, license: "(MIT OR GPL-3.0)" } },
    ],
    [[], { "node_modules/tool": { ...valid, license: "GPL-3.0-only", dev: true } }],
    [["tool has no integrity hash"], { "node_modules/tool": { ...valid, integrity: undefined, dev: true } }],
  ])("finds %j", (faults, packages) => {
    const lock: Lock = {
      packages: { "node_modules/with-script": { ...valid, hasInstallScript: true }, ...packages },
    };
    expect(lockFaults(lock, knownScripts, licences)).toEqual(faults);
  });
});

describe("the check of a package.json", () => {
  test.each<[faults: string[], manifest: Manifest]>([
    [[], {}],
    [[], { dependencies: { plain: "1.0.0" }, optionalDependencies: { early: "2.0.0-rc.1" } }],
    [["plain is not pinned: ^1.0.0"], { dependencies: { plain: "^1.0.0" } }],
    [["plain is not pinned: 1.x"], { devDependencies: { plain: "1.x" } }],
    [["plain is not pinned: latest"], { optionalDependencies: { plain: "latest" } }],
    [["plain is not pinned: 1.0.0 || 2.0.0"], { dependencies: { plain: "1.0.0 || 2.0.0" } }],
    [
      ["plain is not pinned: git+https://elsewhere.test/plain"],
      { dependencies: { plain: "git+https://elsewhere.test/plain" } },
    ],
  ])("finds %j in %j", (faults, manifest) => {
    expect(manifestFaults(manifest)).toEqual(faults);
  });
});

describe("the report of npm audit", () => {
  const bulk = "http://registry.test/-/npm/v1/security/advisories/bulk";

  test.each([
    [{ auditReportVersion: 2, vulnerabilities: {} }, { faults: [] }],
    [
      { message: `405 Method Not Allowed - POST ${bulk}`, statusCode: 405 },
      { unavailable: "405 Method Not Allowed" },
    ],
    [
      { message: `404 Not Found - POST ${bulk} - no such thing`, statusCode: 404 },
      { unavailable: "404 Not Found" },
    ],
    [
      { message: `request to ${bulk} failed, reason: connect ECONNREFUSED 127.0.0.1:1` },
      { unavailable: "connect ECONNREFUSED 127.0.0.1:1" },
    ],
  ])("%j is parsed as %j", (printed, report) => {
    expect(readReport(JSON.stringify(printed))).toEqual(report);
  });

  test("is summarised as a line with the causes for each vulnerable package", () => {
    const vulnerabilities = {
      plain: {
        severity: "high",
        via: [
          { title: "It crashes", url: "https://advisories.test/1" },
          { title: "It hangs", url: "https://advisories.test/2" },
        ],
      },
      parent: { severity: "high", via: ["plain", "sibling"] },
    };
    expect(readReport(JSON.stringify({ auditReportVersion: 2, vulnerabilities }))).toEqual({
      faults: [
        "plain is vulnerable (high): It crashes, https://advisories.test/1; It hangs, https://advisories.test/2",
        "parent is vulnerable (high): through plain; through sibling",
      ],
    });
  });

  test.each([
    ["", "its output is not a report"],
    ["npm ERR!", "its output is not a report"],
    ["{}", "its output is not a report"],
    [
      '{"error":{"code":"ENOLOCK","summary":"This command requires a lockfile."}}',
      "This command requires a lockfile.",
    ],
    [`{"message":"503 Service Unavailable - POST ${bulk}","statusCode":503}`, "503 Service Unavailable"],
    [`{"message":"401 Unauthorized - POST ${bulk}","statusCode":401}`, "401 Unauthorized"],
    [`{"message":"invalid json response body at ${bulk}"}`, `invalid json response body at ${bulk}`],
  ])("%j is a failure", (printed, reason) => {
    expect(readReport(printed)).toEqual({ faults: [`npm audit failed: ${reason}`] });
  });
});

const advisory = {
  id: 1,
  url: "https://advisories.test/1",
  title: "It crashes",
  severity: "high",
  vulnerable_versions: "*",
};

describe("npm run audit", () => {
  test.each([
    [
      "fails if the registry reports a vulnerability",
      { fastify: [advisory] },
      {
        code: 1,
        errors: expect.stringContaining("audit: fastify is vulnerable (high): It crashes, https:"),
      },
    ],
    [
      "succeeds if the registry reports none",
      {},
      { code: 0, errors: "", output: expect.not.stringContaining("SKIPPED") },
    ],
    [
      "succeeds if the registry does not support audits, and reports that",
      undefined,
      {
        code: 0,
        errors: "",
        output: expect.stringContaining("SKIPPED: npm audit: 405 "),
      },
    ],
  ])("%s", async (_title, advisories, exit) => {
    await using registry = createServer((request, response) => {
      if (request.method !== "POST" || !advisories) response.writeHead(405).end();
      else response.setHeader("content-type", "application/json").end(JSON.stringify(advisories));
    });
    registry.listen(0, "127.0.0.1");
    await once(registry, "listening");
    const { port } = registry.address() as AddressInfo;
    const env = {
      npm_config_registry: `http://127.0.0.1:${port}/`,
      // npm caches advisories by their id and package.
      npm_config_cache: newFolder(),
    };
    expect(await run("scripts/checks/audit.ts", { env }).exit).toMatchObject(exit);
  });
});
