import { parseCommandLine, runCommand, say, UsageError } from "../src/process/command.ts";
import { stopOnSignals } from "../src/process/stop.ts";
import { requireInstalled } from "../testing/servers/install.ts";
import { kafka } from "../testing/servers/kafka.ts";
import { postgresql } from "../testing/servers/postgres.ts";
import { rabbitmq } from "../testing/servers/rabbitmq.ts";
import { redis } from "../testing/servers/redis.ts";
import type { Outcome } from "./attack.ts";
import { featureSubjects } from "./features.ts";
import { kafkaSubject } from "./kafka.ts";
import { ledgerSubjects } from "./ledger.ts";
import { openMemoryGroup } from "./memory-group.ts";
import { memoryMaxMiB } from "./watched-service.ts";

const allSubjects = [...ledgerSubjects, kafkaSubject, ...featureSubjects];

const usage = `Usage: npm run hostile [-- [--on SUBJECT] [--only TEXT] [--attempts N]]

Attacks real processes of both services, one attack at a time, with requests and messages of legal size: long lists,
many members, large histories, clients that do not read, many connections. Beside each attack another caller sends
requests. The attack fails if it holds the event loop of the service for more than 50 ms, if the other caller waits for
more than 250 ms (500 ms with the embedded database) or gets an error, or if the process exceeds its memory. An attack
that exceeds a bound is repeated, since other programs can use the machine: it fails if every attempt exceeds one. The
bounds of time are for an idle reference machine. They grow with the time of a fixed piece of work before and after the
attack, and with what other programs had of the processors meanwhile. Time that the host took from a virtual machine
does not count.

  --on SUBJECT   only this service and engine: ${allSubjects.map(({ name }) => name).join(", ")}
  --only TEXT    only attacks whose name contains this text
  --attempts N   attempts of an attack that exceeds a bound. Default: 3
  --help         print this text

To install the servers: npm run servers -- --install
`;

await runCommand("hostile", usage, async (args) => {
  const text = { type: "string" } as const;
  const { values: given } = parseCommandLine({ args, options: { on: text, only: text, attempts: text } });
  const subjects = allSubjects.filter(({ name }) => given.on === undefined || name === given.on);
  if (subjects.length === 0)
    throw new UsageError(`--on must be one of ${allSubjects.map(({ name }) => name).join(", ")}`);
  if (given.attempts !== undefined && !/^[1-9]$/.test(given.attempts)) {
    throw new UsageError("--attempts must be 1 to 9");
  }
  requireInstalled([postgresql, rabbitmq, kafka, redis], "servers");
  const { signal } = stopOnSignals();
  using group = openMemoryGroup(memoryMaxMiB);
  if (!group) say("this system does not permit a memory limit: the memory is only measured");
  const attempts = Number(given.attempts ?? 3);
  const attacks = subjects.flatMap((subject) =>
    subject.attacks.filter((name) => name.includes(given.only ?? "")).map((name) => ({ subject, name })),
  );
  if (attacks.length === 0) throw new UsageError("no attack has such a name");
  const failed: string[] = [];
  for (const [subject, chosen] of Map.groupBy(attacks, ({ subject }) => subject)) {
    await using opened = new AsyncDisposableStack();
    const run = await subject.open(opened);
    for (const { name } of chosen) {
      const label = `${subject.name}: ${name}`;
      let outcome: Outcome | undefined;
      for (let attempt = 0; attempt < attempts && outcome?.violations.length !== 0; attempt += 1) {
        if (signal.aborted) throw new Error("stopped");
        outcome = await run(name);
        say(`${outcome.violations.length === 0 ? "ok  " : "over"} ${label}: ${outcome.figures}`);
        for (const violation of outcome.violations) say(`       ${violation}`);
      }
      if (outcome?.violations.length !== 0) failed.push(label);
    }
  }
  say(`${attacks.length} attacks, ${failed.length} exceeded a bound`);
  if (failed.length > 0) throw new AggregateError(failed.map((label) => new Error(`exceeded: ${label}`)));
});
