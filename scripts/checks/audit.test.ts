import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { newFolder, run } from "../../testing/run.ts";
import { lockFaults, manifestFaults, readReport } from "./audit/lock-file.ts";

const locked = { version: "1.0.0", integrity: "sha512-x", license: "MIT" };
const withScript = { ...locked, hasInstallScript: true };
const elsewhere = "https://elsewhere.test/deep.tgz";

test.each<[folder: string, entry: object | undefined, faults: string[]]>([
  ["", { license: "none" }, []],
  ["node_modules/plain", locked, []],
  ["node_modules/plain", { ...locked, integrity: undefined }, ["plain has no integrity hash"]],
  [
    "node_modules/plain/node_modules/@scope/deep",
    { ...locked, resolved: elsewhere },
    [`@scope/deep does not come from the registry: ${elsewhere}`],
  ],
  ["node_modules/plain", withScript, ["plain has an install script that is not in the list of known ones"]],
  ["node_modules/known", locked, ["known no longer has an install script"]],
  ["node_modules/known", undefined, ["known no longer has an install script"]],
  ["node_modules/plain", { ...locked, license: "GPL-3.0-only" }, ["the licence of plain is GPL-3.0-only"]],
  ["node_modules/plain", { ...locked, license: undefined }, ["the licence of plain is not stated"]],
  ["node_modules/plain", { ...locked, license: "(MIT OR GPL)" }, ["the licence of plain is (MIT OR GPL)"]],
  ["node_modules/tool", { ...locked, license: "GPL-3.0-only", dev: true }, []],
  ["node_modules/tool", { ...locked, integrity: undefined, dev: true }, ["tool has no integrity hash"]],
])("a lock file with %s: %j has the faults %j", (folder, entry, faults) => {
  const packages = { "node_modules/known": withScript, [folder]: entry };
  expect(lockFaults({ packages }, { known: "its binaries are packages" }, ["MIT", "ISC"])).toEqual(faults);
});

test.each(["^1.0.0", "1.x", "latest", "1.0.0 || 2.0.0", "git+https://elsewhere.test/plain"])(
  "a dependency on %s is not pinned",
  (version) => {
    const faults = [`plain is not pinned: ${version}`];
    for (const kind of ["dependencies", "devDependencies", "optionalDependencies"])
      expect(manifestFaults({ [kind]: { plain: version, other: "1.0.0", early: "2.0.0-rc.1" } })).toEqual(
        faults,
      );
    expect(manifestFaults({})).toEqual([]);
  },
);

const bulk = "http://registry.test/-/npm/v1/security/advisories/bulk";
const refused = "connect ECONNREFUSED 127.0.0.1:1";
const [crash, hang] = ["It crashes", "It hangs"].map((title) => ({
  title,
  url: "https://advisories.test/1",
}));
const vulnerabilities = {
  plain: { severity: "high", via: [crash, hang] },
  parent: { severity: "high", via: ["plain", "sibling"] },
};
const lines = [
  "plain is vulnerable (high): It crashes, https://advisories.test/1; It hangs, https://advisories.test/1",
  "parent is vulnerable (high): through plain; through sibling",
];
const failure = (reason: string) => ({ faults: [`npm audit failed: ${reason}`] });
test.each<[printed: string | object, report: object]>([
  [{ auditReportVersion: 2, vulnerabilities: {} }, { faults: [] }],
  [{ auditReportVersion: 2, vulnerabilities }, { faults: lines }],
  [{ message: `405 Not Allowed - POST ${bulk}`, statusCode: 405 }, { unavailable: "405 Not Allowed" }],
  [{ message: `404 Not Found - POST ${bulk} - no`, statusCode: 404 }, { unavailable: "404 Not Found" }],
  [{ message: `request to ${bulk} failed, reason: ${refused}` }, { unavailable: refused }],
  ["", failure("its output is not a report")],
  ["npm ERR!", failure("its output is not a report")],
  ["{}", failure("its output is not a report")],
  [{ error: { code: "ENOLOCK", summary: "This needs a lockfile." } }, failure("This needs a lockfile.")],
  [{ message: `503 Unavailable - POST ${bulk}`, statusCode: 503 }, failure("503 Unavailable")],
  [{ message: `401 Unauthorized - POST ${bulk}`, statusCode: 401 }, failure("401 Unauthorized")],
  [{ message: `invalid json response body at ${bulk}` }, failure(`invalid json response body at ${bulk}`)],
])("%j of npm audit is read as %j", (printed, report) => {
  expect(readReport(typeof printed === "string" ? printed : JSON.stringify(printed))).toEqual(report);
});

const advisory = { id: 1, ...crash, severity: "high", vulnerable_versions: "*" };
test.each([
  [
    "a vulnerability",
    { fastify: [advisory] },
    1,
    /audit: fastify is vulnerable \(high\): It crashes, https:/,
  ],
  ["no vulnerability", {}, 0, /^((?!SKIPPED).)*$/s],
  ["no support for audits", undefined, 0, /SKIPPED: npm audit: 405 /],
])("npm run audit with a registry that reports %s", async (_title, advisories, code, text) => {
  await using registry = createServer((request, response) => {
    if (request.method !== "POST" || !advisories) response.writeHead(405).end();
    else response.setHeader("content-type", "application/json").end(JSON.stringify(advisories));
  });
  await once(registry.listen(0, "127.0.0.1"), "listening");
  const { port } = registry.address() as AddressInfo;
  // npm caches advisories by their id and package.
  const env = { npm_config_registry: `http://127.0.0.1:${port}/`, npm_config_cache: newFolder() };
  const { output, errors, ...exit } = await run("scripts/checks/audit.ts", { env }).exit;
  expect(exit.code).toBe(code);
  expect(code === 0 ? output : errors).toMatch(text);
});
