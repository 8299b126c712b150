import { existsSync, rmSync, writeFileSync } from "node:fs";
import { say } from "../../src/process/command.ts";
import { runProcess } from "../../testing/child-process.ts";

/** What a command needs of the system. */
export interface Installable {
  name: string;
  /** Debian's packages of it, or of what installs it. */
  aptPackages: string[];
  isInstalled(): boolean;
  /** What installs it once these packages are there; otherwise that is all. */
  install?(stop: AbortSignal): Promise<void>;
}

const missingOf = (all: Installable[]) => all.filter(({ isInstalled }) => !isInstalled());
const namesOf = (some: Installable[]) => some.map(({ name }) => name).join(", ");

/** Throws when something is missing, with the npm script whose `--install` installs it. */
export function requireInstalled(all: Installable[], script: string): void {
  const missing = missingOf(all);
  if (missing.length === 0) return;
  throw new Error(
    `not installed: ${namesOf(missing)}; npm run ${script} -- --install installs what is missing`,
  );
}

/** Says a command and runs it; rejects unless its exit code is 0. */
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

/** What asks before it starts a service of a new package; 101 forbids. */
const startPolicy = "/usr/sbin/policy-rc.d";

/** Installs, as root and with apt-get, what is missing, and starts no service that its packages bring. */
export async function installMissing(all: Installable[], script: string, stop: AbortSignal): Promise<void> {
  const missing = missingOf(all);
  if (missing.length === 0) {
    say(`there is ${namesOf(all)}: nothing to install`);
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
    // One package can bring what another would have to be installed for.
    for (const { install } of missingOf(missing)) await install?.(stop);
  } finally {
    if (mayStart) rmSync(startPolicy);
  }
  requireInstalled(all, script);
}
