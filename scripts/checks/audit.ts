import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { rejectUnknown, runCommand, say } from "../../src/process/command.ts";
import { startProcess } from "../../testing/child-process.ts";
import { root } from "../../testing/project.ts";
import { lockFaults, manifestFaults, readReport } from "./audit/lock-file.ts";

const usage = `Usage: npm run audit

Looks at the packages that this project is made with. package.json and package-lock.json: every direct dependency is
pinned, every package has its integrity and comes from the registry, none but the known ones has an install script, and
the licence of each that is installed for production is among those that are allowed. Then asks the registry (npm audit)
for vulnerabilities of those installed for production; says so and succeeds when it answers no audits.

  --help   print this text
`;

const auditMaxMs = 5 * 60_000;

/** Packages with an install script, and why it need not run. */
const installScripts = {
  lmdb: "its binary is an optional package, and is found without it",
  "msgpackr-extract": "its binary is an optional package, and lmdb does without it",
};

/** Those that are allowed for production: permissive ones. */
const licences = ["0BSD", "Apache-2.0", "BSD-3-Clause", "BlueOak-1.0.0", "ISC", "MIT"];

await runCommand("audit", usage, async (args) => {
  rejectUnknown(args, []);
  const [manifest, lock] = await Promise.all(["package.json", "package-lock.json"].map(readDocument));
  say(`${Object.keys(lock.packages).length - 1} packages`);
  for (const [name, reason] of Object.entries(installScripts))
    say(`the install script of ${name} need not run: ${reason}`);
  const faults = [...manifestFaults(manifest), ...lockFaults(lock, installScripts, licences)];
  const report = readReport(await npmAudit());
  if ("unanswered" in report) say(`LEFT OUT: the registry answers no audits: ${report.unanswered}`);
  else faults.push(...report.faults);
  if (faults.length > 0) throw new AggregateError(faults.map((fault) => new Error(fault)));
  say("nothing is wrong with what was looked at");
});

async function readDocument(file: string) {
  return JSON.parse(await readFile(join(root, file), "utf8"));
}

async function npmAudit(): Promise<string> {
  const limits = { cwd: root, signal: AbortSignal.timeout(auditMaxMs) };
  return (await startProcess(["npm", "audit", "--omit=dev", "--json"], limits).exit).output;
}
