import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { say } from "../../src/process/command.ts";
import { outputOf } from "../../testing/child-process.ts";

/**
 * Installs packages of PyPI, each given as `NAME==VERSION`, in a virtual environment below node_modules, unless they are
 * installed. Resolves with the folder of their programs, or with the reason why they cannot be installed.
 */
export async function pythonTools(packages: string[]): Promise<{ folder: string } | { reason: string }> {
  const environment = fileURLToPath(
    new URL(`../../node_modules/.cache/python-${packages.join("-").replaceAll("==", "-")}`, import.meta.url),
  );
  const folder = `${environment}/bin`;
  const complete = `${environment}/complete`;
  if (existsSync(complete)) return { folder };
  say(`installing ${packages.join(", ")}`);
  try {
    await outputOf(["python3", "-m", "venv", environment]);
    await outputOf([`${folder}/pip`, "install", "--quiet", "--disable-pip-version-check", ...packages]);
  } catch (error) {
    return { reason: (error as Error).message.split("\n").at(-1) ?? "" };
  }
  writeFileSync(complete, "");
  return { folder };
}
