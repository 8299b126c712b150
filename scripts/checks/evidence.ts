import { rejectUnknown, runCommand, say } from "../../src/process/command.ts";
import { observe } from "./evidence/observe.ts";
import { faultsOf } from "./evidence/report.ts";
import { featuresSubject, ledgerSubject } from "./evidence/subjects.ts";

const usage = `Usage: npm run evidence

Compares both services with their contracts. Starts them on embedded engines, sends requests that exercise everything the
contracts declare, and receives the events that the ledger publishes to webhooks.
Exit code: 1 if a declared response was never seen, a response violates the contract, or a part of the contract (a
parameter, a member, a value of an enum) was never exercised.

  --help   print this text
`;

await runCommand("evidence", usage, async (args) => {
  rejectUnknown(args, []);
  const faults: string[] = [];
  for (const open of [ledgerSubject, featuresSubject]) {
    await using subject = await open();
    const observations = await observe(subject);
    const { title, version } = subject.contract.info;
    say(`${title} ${version}: ${observations.length} responses`);
    faults.push(...faultsOf(subject, observations));
  }
  if (faults.length > 0) throw new AggregateError(faults.map((fault) => new Error(fault)));
  say("every declared response was seen, and every response conformed");
});
