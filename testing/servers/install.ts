import { existsSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { say } from "../../src/process/command.ts";
import { runProcess } from "../child-process.ts";
import { findProgram } from "./server.ts";

/** A program that a command needs, from Debian. */
export interface Installable {
  name: string;
  /** The Debian packages of the program, or of the tools that `install` uses. */
  aptPackages: string[];
  isInstalled(): boolean;
  /** Installs the program after the packages. Default: the packages are enough. */
  install?(stop: AbortSignal): Promise<void>;
}

/** A program of this command, which may be in one of the folders instead of on the PATH. */
export const debianProgram = (
  name: string,
  command: string,
  aptPackages: string[],
  folders: string[] = [],
): Installable => ({ name, aptPackages, isInstalled: () => findProgram(command, folders) !== undefined });

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

/**
 * Makes a folder with what `fill` puts into it. It gets its final name when it is complete. Leftovers of an earlier attempt
 * are removed, but no file system mounted there.
 */
export async function installFolder(
  folder: string,
  stop: AbortSignal,
  fill: (incomplete: string) => Promise<void>,
): Promise<void> {
  const incomplete = `${folder}.incomplete`;
  await runToEnd(["rm", "--recursive", "--force", "--one-file-system", folder, incomplete], stop);
  await mkdir(incomplete);
  await fill(incomplete);
  await rename(incomplete, folder);
}

/** A call of the plugin of Maven that copies artifacts. */
export const copyByMaven = (goal: "copy" | "copy-dependencies", folder: string, ...options: string[]) => [
  ...["mvn", "--quiet", "--batch-mode", ...options],
  ...[`org.apache.maven.plugins:maven-dependency-plugin:3.8.1:${goal}`, `-DoutputDirectory=${folder}`],
];

/**
 * Forbids packages to start their services until disposal. Before a start they run this program, whose exit code 101
 * forbids it.
 */
function forbidStarts(root = "/"): Disposable {
  const policy = join(root, "usr/sbin/policy-rc.d");
  if (existsSync(policy)) return { [Symbol.dispose]() {} };
  writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  return { [Symbol.dispose]: () => rmSync(policy) };
}

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
  await installPackages(new Set(missing.flatMap(({ aptPackages }) => aptPackages)), stop);
  // The packages may have been enough: a newer Debian has RabbitMQ 4 itself.
  for (const { install } of missingOf(missing)) await install?.(stop);
  requireInstalled(programs, script);
}

/** Installs packages of Debian, by default in the system, or in the one in this root folder. */
export async function installPackages(packages: Iterable<string>, stop: AbortSignal, root?: string) {
  using _forbidden = forbidStarts(root);
  const apt = [...(root === undefined ? [] : ["chroot", root]), "apt-get", "-qq"];
  await runToEnd([...apt, "update"], stop);
  await runToEnd([...apt, "install", "--yes", "--no-install-recommends", ...packages], stop);
}
