import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { runCommand, say, UsageError } from "../../src/process/command.ts";
import { stopOnSignals } from "../../src/process/stop.ts";
import { runProcess } from "../../testing/child-process.ts";
import { root } from "../../testing/project.ts";
import { startServices } from "../../testing/services.ts";

const usage = `Usage: npm run examples

Starts both services with the demonstration's data, and runs every client of examples/ against them: each is made from
the published contracts, compiled, and makes its first calls. What this machine has no compiler for is left out, by
name.

  --help   print this text
`;

const examples = [
  { name: "typescript", needs: process.execPath },
  { name: "python", needs: "python3" },
  { name: "go", needs: "go" },
];

await runCommand("examples", usage, async (args) => {
  if (args.length > 0) throw new UsageError("takes no arguments");
  const stop = stopOnSignals();
  await using services = await startServices();
  await services.run("src/ledger/commands/demo.ts");
  const failed: string[] = [];
  for (const { name, needs } of examples) {
    if (spawnSync(needs, ["--help"]).error) {
      say(`\n${name}: LEFT OUT, there is no ${needs}`);
      continue;
    }
    say(`\n${name}`);
    const command = [join(root, "examples", name, "run"), services.ledgerUrl, services.featuresUrl];
    const { code } = await runProcess(command, { output: "inherit", errors: "inherit", signal: stop.signal });
    if (code !== 0) failed.push(name);
  }
  if (failed.length > 0) throw new Error(`failed: ${failed.join(", ")}`);
});
