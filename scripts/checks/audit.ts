import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { rejectUnknown, runCommand, say } from "../../src/process/command.ts";
import { startProcess } from "../../testing/child-process.ts";
import { root } from "../../testing/project.ts";
import { lockFaults, manifestFaults, readReport } from "./audit/lock-file.ts";

const usage = `Usage: npm run audit

Checks the packages that this project uses:
  - every direct dependency is pinned to one version
  - every package has an integrity hash and comes from the registry
  - only known packages have an install script
  - the licence of every production package is allowed
  - npm audit reports no vulnerability of a production package; skipped with a message if the registry cannot be
    reached or does not support audits
Exit code: 1 if a check failed.

  --help   print this text
`;

const auditMaxMs = 5 * 60_000;

/** Packages with an install script, and the reason why it is not needed. */
const installScripts = {
  lmdb: "its binary is in an optional package",
  "msgpackr-extract": "its binary is in an optional package, and lmdb works without it",
};

/** Licences allowed in production. All are permissive. */
const licences = ["0BSD", "Apache-2.0", "BSD-3-Clause", "BlueOak-1.0.0", "ISC", "MIT"];

await runCommand("audit", usage, async (args) => {
  rejectUnknown(args, []);
  const [manifest, lock] = await Promise.all(["package.json", "package-lock.json"].map(readDocument));
  say(`${Object.keys(lock.packages).length - 1} packages`);
  for (const [name, reason] of Object.entries(installScripts))
    say(`the install script of ${name} is not needed: ${reason}`);
  const faults = [...manifestFaults(manifest), ...lockFaults(lock, installScripts, licences)];
  const report = readReport(await npmAudit());
  if ("unavailable" in report) say(`SKIPPED: npm audit: ${report.unavailable}`);
  else faults.push(...report.faults);
  if (faults.length > 0) throw new AggregateError(faults.map((fault) => new Error(fault)));
  say("no faults found");
});

async function readDocument(file: string) {
  return JSON.parse(await readFile(join(root, file), "utf8"));
}

async function npmAudit(): Promise<string> {
  const limits = { cwd: root, signal: AbortSignal.timeout(auditMaxMs) };
  return (await startProcess(["npm", "audit", "--omit=dev", "--json"], limits).exit).output;
}
