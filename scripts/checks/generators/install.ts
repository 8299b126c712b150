import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { say } from "../../../src/process/command.ts";
import { outputOf } from "../../../testing/child-process.ts";
import { root } from "../../../testing/project.ts";
import { pythonTools } from "../python-tools.ts";

/** Installs npm packages, each given as `NAME@VERSION`, below node_modules/.cache. Resolves with their node_modules. */
export async function installNpmPackages(packages: string[]): Promise<string> {
  const folder = join(root, `node_modules/.cache/npm-${packages.join("-").replaceAll("/", "-")}`);
  const modules = join(folder, "node_modules");
  const complete = join(folder, "complete");
  if (existsSync(complete)) return modules;
  say(`installing ${packages.join(", ")}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), "{}");
  await outputOf(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", ...packages], {
    cwd: folder,
  });
  await writeFile(complete, "");
  return modules;
}

/** Installs packages of PyPI in the same way. Resolves with the folder of their programs. */
export async function installPythonPackages(packages: string[]): Promise<string> {
  const tools = await pythonTools(packages);
  if ("reason" in tools) throw new Error(`${packages.join(", ")}: ${tools.reason}`);
  return tools.folder;
}
