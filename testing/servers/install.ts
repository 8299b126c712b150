import { existsSync, rmSync, writeFileSync } from "node:fs";
import { say } from "../../src/process/command.ts";
import { runProcess } from "../child-process.ts";

/** A program that a command needs, from Debian. */
export interface Installable {
  name: string;
  /** The Debian packages of the program, or of the tools that `install` uses. */
  aptPackages: string[];
  isInstalled(): boolean;
  /** Installs the program after the packages. Default: the packages are enough. */
  install?(stop: AbortSignal): Promise<void>;
}

const missingOf = (programs: Installable[]) => programs.filter(({ isInstalled }) => !isInstalled());
const namesOf = (programs: Installable[]) => programs.map(({ name }) => name).join(", ");

/** Throws if a program is missing. The message names the npm script that installs it with `--install`. */
export function requireInstalled(programs: Installable[], script: string): void {
  const missing = missingOf(programs);
  if (missing.length === 0) return;
  throw new Error(`not installed: ${namesOf(missing)}; to install: npm run ${script} -- --install`);
}

/** Prints a command and runs it. Rejects unless its exit code is 0. */
export async function runToEnd(command: string[], stop: AbortSignal): Promise<void> {
  say(command.join(" "));
  const { code } = await runProcess(command, {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    output: "ignore",
    errors: "inherit",
    signal: stop,
  });
  if (code !== 0) throw new Error(`${command.join(" ")} ended with exit code ${code}`);
}

/** Packages run this program before they start a service. Its exit code 101 forbids the start. */
const startPolicy = "/usr/sbin/policy-rc.d";

/** Installs the missing programs with apt-get, as root. Does not start the services of the packages. */
export async function installMissing(
  programs: Installable[],
  script: string,
  stop: AbortSignal,
): Promise<void> {
  const missing = missingOf(programs);
  if (missing.length === 0) {
    say(`nothing to install; installed: ${namesOf(programs)}`);
    return;
  }
  if (process.getuid?.() !== 0) throw new Error(`only root can install ${namesOf(missing)}`);
  const mayStart = !existsSync(startPolicy);
  if (mayStart) writeFileSync(startPolicy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    const packages = new Set(missing.flatMap(({ aptPackages }) => aptPackages));
    for (const args of [["update"], ["install", "--yes", "--no-install-recommends", ...packages]]) {
      await runToEnd(["apt-get", "-qq", ...args], stop);
    }
    // The packages may have been enough: a newer Debian has RabbitMQ 4 itself.
    for (const { install } of missingOf(missing)) await install?.(stop);
  } finally {
    if (mayStart) rmSync(startPolicy);
  }
  requireInstalled(programs, script);
}
