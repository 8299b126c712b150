import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { run } from "../../testing/run.ts";
import { type Lock, lockFaults, type Manifest, manifestFaults, readReport } from "./audit/lock-file.ts";

const good = { version: "1.0.0", integrity: "sha512-x", license: "MIT" };
const accepted = { "with-script": "its binaries are packages" };
const licences = ["MIT", "ISC"];

describe("of a lock file", () => {
  test.each<[told: string[], packages: Lock["packages"]]>([
    [[], { "": { license: "none" }, "node_modules/plain": good }],
    [["plain has no integrity"], { "node_modules/plain": { ...good, integrity: undefined } }],
    [
      ["@scope/deep names where it comes from, which a package of the registry does not"],
      {
        "node_modules/plain/node_modules/@scope/deep": {
          ...good,
          resolved: "https://elsewhere.test/deep.tgz",
        },
      },
    ],
    [
      ["plain has an install script, which is not among those that are known"],
      { "node_modules/plain": { ...good, hasInstallScript: true } },
    ],
    [
      ["with-script has no install script any more"],
      { "node_modules/with-script": { ...good, hasInstallScript: undefined } },
    ],
    [["with-script has no install script any more"], { "node_modules/with-script": undefined }],
    [["plain is under GPL-3.0-only"], { "node_modules/plain": { ...good, license: "GPL-3.0-only" } }],
    [["plain is under no licence that it names"], { "node_modules/plain": { ...good, license: undefined } }],
    [["plain is under (MIT OR GPL-3.0)"], { "node_modules/plain": { ...good, license: "(MIT OR GPL-3.0)" } }],
    [[], { "node_modules/tool": { ...good, license: "GPL-3.0-only", dev: true } }],
    [["tool has no integrity"], { "node_modules/tool": { ...good, integrity: undefined, dev: true } }],
  ])("these faults are found: %j", (told, packages) => {
    const lock: Lock = {
      packages: { "node_modules/with-script": { ...good, hasInstallScript: true }, ...packages },
    };
    expect(lockFaults(lock, accepted, licences)).toEqual(told);
  });
});

describe("of a manifest", () => {
  test.each<[told: string[], manifest: Manifest]>([
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
  ])("these faults are found: %j", (told, manifest) => {
    expect(manifestFaults(manifest)).toEqual(told);
  });
});

describe("what npm audit prints", () => {
  const bulk = "http://registry.test/-/npm/v1/security/advisories/bulk";

  test.each([
    [{ auditReportVersion: 2, vulnerabilities: {} }, { faults: [] }],
    [
      { message: `405 Method Not Allowed - POST ${bulk}`, statusCode: 405 },
      { unanswered: "405 Method Not Allowed" },
    ],
    [
      { message: `404 Not Found - POST ${bulk} - no such thing`, statusCode: 404 },
      { unanswered: "404 Not Found" },
    ],
    [
      { message: `request to ${bulk} failed, reason: connect ECONNREFUSED 127.0.0.1:1` },
      { unanswered: "connect ECONNREFUSED 127.0.0.1:1" },
    ],
  ])("%j is understood", (printed, read) => {
    expect(readReport(JSON.stringify(printed))).toEqual(read);
  });

  test("tells of a vulnerable package why it is so", () => {
    const vulnerabilities = {
      plain: {
        severity: "high",
        via: [
          { title: "It falls over", url: "https://advisories.test/1" },
          { title: "It hangs", url: "https://advisories.test/2" },
        ],
      },
      above: { severity: "high", via: ["plain", "beside"] },
    };
    expect(readReport(JSON.stringify({ auditReportVersion: 2, vulnerabilities }))).toEqual({
      faults: [
        "plain is vulnerable (high): It falls over, https://advisories.test/1; It hangs, https://advisories.test/2",
        "above is vulnerable (high): through plain; through beside",
      ],
    });
  });

  test.each([
    ["", "it tells nothing that can be read"],
    ["npm ERR!", "it tells nothing that can be read"],
    ["{}", "it tells nothing that can be read"],
    [
      '{"error":{"code":"ENOLOCK","summary":"This command requires a lockfile."}}',
      "This command requires a lockfile.",
    ],
    [`{"message":"503 Service Unavailable - POST ${bulk}","statusCode":503}`, "503 Service Unavailable"],
    [`{"message":"401 Unauthorized - POST ${bulk}","statusCode":401}`, "401 Unauthorized"],
    [`{"message":"invalid json response body at ${bulk}"}`, `invalid json response body at ${bulk}`],
  ])("%j is a failure", (printed, why) => {
    expect(readReport(printed)).toEqual({ faults: [`npm audit failed: ${why}`] });
  });
});

const advisory = {
  id: 1,
  url: "https://advisories.test/1",
  title: "It falls over",
  severity: "high",
  vulnerable_versions: "*",
};

describe("npm run audit", () => {
  test.each([
    [
      "fails when the registry knows of a vulnerability",
      { fastify: [advisory] },
      {
        code: 1,
        errors: expect.stringContaining("audit: fastify is vulnerable (high): It falls over, https:"),
      },
    ],
    [
      "succeeds when it knows of none",
      {},
      { code: 0, errors: "", output: expect.not.stringContaining("LEFT OUT") },
    ],
    [
      "succeeds when it answers no audits, and says so in sight",
      undefined,
      {
        code: 0,
        errors: "",
        output: expect.stringContaining("LEFT OUT: the registry answers no audits: 405 "),
      },
    ],
  ])("%s", async (_name, advisories, ended) => {
    await using registry = createServer((request, response) => {
      if (request.method !== "POST" || !advisories) response.writeHead(405).end();
      else response.setHeader("content-type", "application/json").end(JSON.stringify(advisories));
    });
    registry.listen(0, "127.0.0.1");
    await once(registry, "listening");
    const { port } = registry.address() as AddressInfo;
    const env = { npm_config_registry: `http://127.0.0.1:${port}/` };
    expect(await run("scripts/checks/audit.ts", { env }).exit).toMatchObject(ended);
  });
});
