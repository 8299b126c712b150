import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { say } from "../../src/process/command.ts";

/**
 * Installs packages of PyPI, each given as `NAME==VERSION`, in a virtual environment below node_modules, unless they are
 * installed. Returns the folder of their programs, or the reason why they cannot be installed.
 */
export function pythonTools(packages: string[]): { folder: string } | { reason: string } {
  const environment = fileURLToPath(
    new URL(`../../node_modules/.cache/python-${packages.join("-").replaceAll("==", "-")}`, import.meta.url),
  );
  const folder = `${environment}/bin`;
  const complete = `${environment}/complete`;
  if (existsSync(complete)) return { folder };
  say(`installing ${packages.join(", ")}`);
  for (const [command, ...args] of [
    ["python3", "-m", "venv", environment],
    [`${folder}/pip`, "install", "--quiet", "--disable-pip-version-check", ...packages],
  ] as [string, ...string[]][]) {
    const { status, error, stderr } = spawnSync(command, args, { encoding: "utf8" });
    if (status !== 0)
      return { reason: error?.message ?? (stderr.trim().split("\n").at(-1) || `${command} failed`) };
  }
  writeFileSync(complete, "");
  return { folder };
}
