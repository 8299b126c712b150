import { writeFile } from "node:fs/promises";
import { runCommand, say, UsageError } from "../../src/process/command.ts";
import { observe } from "./evidence/observe.ts";
import { type Answer, type Evidence, evidenceOf, faultsOf } from "./evidence/report.ts";
import { featuresSubject, ledgerSubject } from "./evidence/subjects.ts";

const usage = `Usage: npm run evidence

Starts both services on embedded engines, asks them everything their contracts declare, and reports for every
operation, status and media type how often it was seen and whether each reply conformed. Writes evidence.json.
Exit code: 1 when a declared answer was never seen, an undeclared one was, a reply did not conform, or a part of the
contract (a parameter, a member, a value of an enum) was never seen at work.

  --help   print this text
`;

function table(answers: Answer[]): string[] {
  const rows = answers.map(
    ({ operation, status, type, seen, conforming }) =>
      [operation, String(status), type, String(seen), String(conforming)] as const,
  );
  const all = [["operation", "status", "media type", "seen", "conforming"], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) =>
        column < 3 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  "),
  );
}

await runCommand("evidence", usage, async (args) => {
  if (args.length > 0) throw new UsageError("takes no arguments");
  const evidence: Evidence[] = [];
  for (const open of [ledgerSubject, featuresSubject]) {
    await using subject = await open();
    say(`asking the ${subject.contract.info.title.toLowerCase()}`);
    evidence.push(evidenceOf(subject, await observe(subject)));
  }
  await writeFile("evidence.json", `${JSON.stringify(evidence, null, 2)}\n`);

  for (const { service, version, answers } of evidence) {
    say(`\n${service} ${version}\n`);
    for (const line of table(answers)) say(`  ${line}`);
  }
  const answers = evidence.flatMap((one) => one.answers);
  say(`\n${answers.reduce((sum, { seen }) => sum + seen, 0)} replies; wrote evidence.json`);
  const faults = evidence.flatMap(faultsOf);
  if (faults.length > 0) throw new AggregateError(faults.map((fault) => new Error(fault)));
  say(`all ${answers.length} declared answers were seen, and every reply conformed`);
});
