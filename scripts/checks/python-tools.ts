import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { say } from "../../src/process/command.ts";

/**
 * The folder of programs of these packages of PyPI, each `NAME==VERSION`, in an environment of their own below
 * node_modules, installed when it is not there yet; or why they cannot be had.
 */
export function pythonTools(packages: string[]): { folder: string } | { why: string } {
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
      return { why: error?.message ?? (stderr.trim().split("\n").at(-1) || `${command} failed`) };
  }
  writeFileSync(complete, "");
  return { folder };
}
