import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { rejectUnknown, runCommand, say } from "../../src/process/command.ts";
import { stopOnSignals } from "../../src/process/stop.ts";
import { runProcess } from "../../testing/child-process.ts";
import { root } from "../../testing/project.ts";
import { startServices } from "../../testing/services.ts";

const usage = `Usage: npm run examples

Starts both services with the data of npm run demo and runs every client of examples/ against them. Each client is
generated from the published contracts, compiled and run. A client is skipped, with a message, if its language is not
installed. Exit code: 1 if a client failed.

  --help   print this text
`;

const examples = [
  { name: "typescript", program: process.execPath },
  { name: "python", program: "python3" },
  { name: "go", program: "go" },
];

await runCommand("examples", usage, async (args) => {
  rejectUnknown(args, []);
  const stop = stopOnSignals();
  await using services = await startServices();
  await services.run("src/ledger/commands/demo.ts");
  const failed: string[] = [];
  for (const { name, program } of examples) {
    if (spawnSync(program, ["--help"]).error) {
      say(`\n${name}: SKIPPED: ${program} is not installed`);
      continue;
    }
    say(`\n${name}`);
    const command = [join(root, "examples", name, "run"), services.ledgerUrl, services.featuresUrl];
    const { code } = await runProcess(command, { output: "inherit", errors: "inherit", signal: stop.signal });
    if (code !== 0) failed.push(name);
  }
  if (failed.length > 0) throw new Error(`failed: ${failed.join(", ")}`);
});
