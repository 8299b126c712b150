import { spawnSync } from "node:child_process";
import { cp, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { runCommand, say, UsageError } from "../../src/process/command.ts";
import { stopOnSignals } from "../../src/process/stop.ts";
import { inChunks } from "../../src/values/chunks.ts";
import { outputOf } from "../../testing/child-process.ts";
import { root } from "../../testing/project.ts";
import { type Services, startServices } from "../../testing/services.ts";
import { type Client, clients } from "./generators/clients.ts";
import { installNpmPackages, installPythonPackages } from "./generators/install.ts";
import { differencesOf } from "./generators/shown.ts";
import { versions } from "./generators/versions.ts";

const names = clients.map(({ name }) => name);
const nameLines = inChunks(names, ({ length }) => length + 2, 108).map((line) => line.join(", "));

const usage = `Usage: npm run generators [-- NAME…]

Makes a client of both services with each of thirteen generators, from the published contracts (generated/*.yaml), with
the commands of scripts/checks/generators/clients.ts. Compiles it with the program examples/NAME/calls.*, which makes a
score of requests to services with the data of npm run demo, and fails unless it shows what examples/expected.ts has. The
versions are in scripts/checks/generators/versions.ts, and for Rust and Kotlin beside the program; Ruby and PHP have those
of Debian. What it downloads is cached in node_modules/.cache and by Maven, Go and Cargo.

A client whose language is not installed is skipped, with a message; with CI=true it fails. Exit code: 1 if a client
failed. The folder of a client that failed is kept.

  NAME     only these clients. Default: all. They are
           ${nameLines.join(",\n           ")}
  --help   print this text
`;

const event = (
  event_type: string,
  resource_type: string,
  id: string,
  details: object = {},
  members = {},
) => ({
  ...{ event_type, resource_type, resource_external_id: id, timestamp: "2024-03-05T09:14:22Z" },
  ...{ event_details: details, ...members },
});
const plain = { gateway_account_id: "plain" };
const live = { live: true };
/** What the data of npm run demo lacks. */
const events = [
  // A refund with only the required members, which has to be distinguished from a dispute.
  event("REFUND_CREATED_BY_SERVICE", "refund", "plain-refund", plain),
  // An agreement without a payment instrument.
  event("AGREEMENT_CREATED", "agreement", "plain-agreement", plain),
  // Payments of an account that is a number in a report, and of none. 32 bits would round the amount, 2^24 + 1.
  event("CAPTURE_CONFIRMED", "payment", "of-57", { gateway_account_id: "57", amount: 16_777_217 }, live),
  event("CAPTURE_CONFIRMED", "payment", "of-none", {}, live),
];

async function startWithData(): Promise<Services> {
  await using opening = new AsyncDisposableStack();
  const services = opening.use(await startServices());
  const messages = events.map((one) => JSON.stringify(one)).join("\n");
  await services.run("src/ledger/commands/send-events.ts", ["-"], messages);
  await services.run("scripts/demo/demo.ts");
  opening.move();
  return services;
}

const tsconfig = {
  compilerOptions: {
    strict: true,
    target: "es2023",
    lib: ["es2023", "dom", "dom.iterable"],
    module: "node16",
    esModuleInterop: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
    outDir: "js",
  },
};

interface Setting {
  /** The folder of the npm packages. */
  modules: string;
  /** The environment of the commands. */
  env: NodeJS.ProcessEnv;
  services: Services;
  signal: AbortSignal;
}

/**
 * Generates, compiles and runs a client in a folder. Rejects with the output of the command that fails, or with what its
 * program should have shown.
 */
async function check(
  { name, commands, leavesOut }: Client,
  folder: string,
  { modules, env, services, signal }: Setting,
) {
  await cp(join(root, "examples", name), folder, { recursive: true });
  const contracts = ["generated/ledger.yaml", "generated/features.yaml"];
  const shared = ["expected.ts", "requests.ts", "show.ts", "show.go", "show.py"].map(
    (file) => `examples/${file}`,
  );
  for (const file of [...contracts, ...shared]) await cp(join(root, file), join(folder, basename(file)));
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
  await symlink(modules, join(folder, "node_modules"));
  const start = [...(commands.at(-1) ?? []), services.ledgerUrl, services.featuresUrl];
  let output = "";
  for (const command of [...commands.slice(0, -1), start]) {
    output = await outputOf(command, { cwd: folder, env, signal }).catch((error) => {
      throw new Error(`${command.join(" ")}\n${error.message}`);
    });
  }
  const differences = leavesOut === "everything" ? [] : differencesOf(output, leavesOut);
  if (differences.length > 0) throw new Error(differences.join("\n"));
}

const missingOf = ({ needs }: Client) =>
  needs.filter((program) => spawnSync(program, ["--help"]).error !== undefined);

await runCommand("generators", usage, async (args) => {
  const unknown = args.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new UsageError(`unknown: ${unknown.join(", ")}; known: ${names.join(", ")}`);
  const waiting = clients.filter((client) => {
    if (args.length > 0 && !args.includes(client.name)) return false;
    const missing = missingOf(client);
    if (missing.length > 0) say(`${client.name}: SKIPPED: not installed: ${missing.join(", ")}`);
    if (missing.length > 0 && process.env.CI) throw new Error("in CI no client is skipped");
    return missing.length === 0;
  });
  const { signal } = stopOnSignals();
  const [services, modules, python] = await Promise.all([
    startWithData(),
    installNpmPackages(versions.npm),
    waiting.some(({ needs }) => needs.includes("python3")) ? installPythonPackages(versions.python) : [],
  ]);
  await using _ = services;
  const folders = [dirname(process.execPath), join(modules, ".bin"), join(root, "node_modules/.bin")];
  const PATH = [...folders, python, process.env.PATH].flat().join(delimiter);
  const setting: Setting = { modules, env: { ...process.env, PATH }, services, signal };
  const work = await mkdtemp(join(tmpdir(), "generators-"));
  const failed: string[] = [];
  async function checkWaiting() {
    for (let client = waiting.shift(); client !== undefined; client = waiting.shift()) {
      const [{ name }, start] = [client, performance.now()];
      const folder = join(work, name);
      try {
        await check(client, folder, setting);
        await rm(folder, { recursive: true });
        say(`${name}: passed in ${Math.round((performance.now() - start) / 1000)} s`);
      } catch (error) {
        signal.throwIfAborted();
        failed.push(name);
        say(`${name}: FAILED in ${folder}: ${(error as Error).message}`);
      }
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, checkWaiting));
  if (failed.length > 0) throw new Error(`failed: ${failed.join(", ")}`);
  await rm(work, { recursive: true });
});
