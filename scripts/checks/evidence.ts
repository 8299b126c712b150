import { writeFile } from "node:fs/promises";
import { rejectUnknown, runCommand, say } from "../../src/process/command.ts";
import { observe } from "./evidence/observe.ts";
import { type Evidence, evidenceOf, faultsOf, type ResponseCount } from "./evidence/report.ts";
import { featuresSubject, ledgerSubject } from "./evidence/subjects.ts";

const usage = `Usage: npm run evidence

Compares both services with their contracts. Starts them on embedded engines and sends requests that exercise everything
the contracts declare. Prints for every operation, status and media type how many responses were seen and how many
conformed, and writes evidence.json.
Exit code: 1 if a declared response was never seen, a response violates the contract, or a part of the contract (a
parameter, a member, a value of an enum) was never exercised.

  --help   print this text
`;

function table(counts: ResponseCount[]): string[] {
  const rows = counts.map(
    ({ operation, status, type, seen, conforming }) =>
      [operation, String(status), type, String(seen), String(conforming)] as const,
  );
  const lines = [["operation", "status", "media type", "seen", "conforming"], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...lines.map((row) => row[column]?.length ?? 0)));
  return lines.map((row) =>
    row
      .map((cell, column) =>
        column < 3 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  "),
  );
}

await runCommand("evidence", usage, async (args) => {
  rejectUnknown(args, []);
  const evidence: Evidence[] = [];
  for (const open of [ledgerSubject, featuresSubject]) {
    await using subject = await open();
    say(`sending requests to the ${subject.contract.info.title.toLowerCase()}`);
    evidence.push(evidenceOf(subject, await observe(subject)));
  }
  await writeFile("evidence.json", `${JSON.stringify(evidence, null, 2)}\n`);

  for (const { service, version, answers } of evidence) {
    say(`\n${service} ${version}\n`);
    for (const line of table(answers)) say(`  ${line}`);
  }
  const counts = evidence.flatMap(({ answers }) => answers);
  say(`\n${counts.reduce((sum, { seen }) => sum + seen, 0)} responses; wrote evidence.json`);
  const faults = evidence.flatMap(faultsOf);
  if (faults.length > 0) throw new AggregateError(faults.map((fault) => new Error(fault)));
  say(`all ${counts.length} declared responses were seen, and every response conformed`);
});
