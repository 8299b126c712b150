import { writeFile } from "node:fs/promises";
import { runCommand, say, UsageFault } from "../src/service/command.ts";
import { operationsOf } from "../src/service/operations.ts";
import { type Observation, observe } from "./evidence/observe.ts";
import { featuresSubject, ledgerSubject, type Subject } from "./evidence/subjects.ts";
import { unseenOf } from "./evidence/unseen.ts";

const usage = `Usage: npm run evidence

Starts both services on embedded engines, asks them everything their contracts declare, and reports for every
operation, status and media type how often it was seen and whether each reply conformed. Writes evidence.json.
Exit code: 1 when a declared answer was never seen, an undeclared one was, a reply did not conform, or a part of the
contract (a parameter, a member, a value of an enum) was never seen at work.

  --help   print this text
`;

interface Answer {
  operation: string;
  status: number;
  type: string;
  seen: number;
  conforming: number;
}

interface Evidence {
  service: string;
  version: string;
  answers: Answer[];
  /** Replies that strayed from the contract. */
  strays: string[];
  /** Parts of the contract that nothing was seen of. */
  unseen: string[];
}

async function gather(openSubject: () => Promise<Subject>): Promise<Evidence> {
  await using subject = await openSubject();
  say(`asking the ${subject.contract.info.title.toLowerCase()}`);
  const observations = await observe(subject);
  const { title, version } = subject.contract.info;
  return {
    service: title,
    version,
    answers: answersOf(subject, observations),
    strays: observations
      .filter(({ fault }) => fault !== undefined)
      .map(
        ({ method, path, status, fault }) =>
          `${method} ${path.slice(0, 120)} was answered ${status}: ${fault}`,
      ),
    unseen: unseenOf(subject, observations),
  };
}

/** Every declared answer, and every other that was seen, in the order of the contract. */
function answersOf({ contract }: Subject, observations: Observation[]): Answer[] {
  const answers = new Map<string, Answer>();
  const answerOf = (operation: string, status: number, type: string): Answer => {
    const key = `${operation} ${status} ${type}`;
    const answer = answers.get(key) ?? { operation, status, type, seen: 0, conforming: 0 };
    answers.set(key, answer);
    return answer;
  };
  for (const { operationId, responses } of operationsOf(contract)) {
    for (const [status, { content = { "": undefined } }] of Object.entries(responses)) {
      for (const type of Object.keys(content)) answerOf(operationId, Number(status), type);
    }
  }
  for (const { operation, status, type, fault } of observations) {
    const answer = answerOf(operation.operationId, status, type);
    answer.seen += 1;
    if (fault === undefined) answer.conforming += 1;
  }
  return [...answers.values()];
}

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
  if (args.length > 0) throw new UsageFault("takes no arguments");
  const evidence: Evidence[] = [];
  for (const open of [ledgerSubject, featuresSubject]) evidence.push(await gather(open));
  await writeFile("evidence.json", `${JSON.stringify(evidence, null, 2)}\n`);

  const faults: string[] = [];
  for (const { service, version, answers, strays, unseen } of evidence) {
    say(
      `${service} ${version}\n\n${table(answers)
        .map((line) => `  ${line}`)
        .join("\n")}\n`,
    );
    const never = answers.filter(({ seen }) => seen === 0);
    faults.push(
      ...never.map(
        ({ operation, status, type }) => `${operation} was never seen to answer ${status} ${type}`,
      ),
      ...strays,
      ...unseen.map((claim) => `nothing was seen of ${claim}`),
    );
  }
  const seen = evidence.flatMap(({ answers }) => answers).reduce((sum, answer) => sum + answer.seen, 0);
  const declared = evidence.flatMap(({ answers }) => answers).length;
  say(`${seen} replies; wrote evidence.json`);
  if (faults.length > 0) throw new AggregateError(faults.map((fault) => new Error(fault)));
  say(`all ${declared} declared answers were seen, and every reply conformed`);
});
