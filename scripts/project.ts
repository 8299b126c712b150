import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of this project. */
export const root = fileURLToPath(new URL("../", import.meta.url));

/** The file names of the contracts in a folder. */
export const contractsIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((file) => file.endsWith(".yaml")).sort();

/** How a program ended, and what it said. */
export interface Ended {
  code: number;
  output: string;
  errors: string;
}

/** Runs a Node.js program in a folder; rejects only when the signal aborts. */
function run(folder: string, program: string, args: string[], signal?: AbortSignal): Promise<Ended> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [program, ...args],
      { cwd: folder, maxBuffer: 2 ** 28, ...(signal && { signal }) },
      (error, output, errors) => {
        if (signal?.aborted) reject(error);
        else resolve({ code: error ? Number(error.code) || 1 : 0, output, errors });
      },
    );
  });
}

const redoclyProgram = fileURLToPath(import.meta.resolve("@redocly/cli/bin/cli.js"));

/** Runs the tool that lints, bundles and compares contracts. */
export const redocly = (args: string[], folder = root): Promise<Ended> => run(folder, redoclyProgram, args);

const parts = [
  ...["openapi", "generated", "scripts", "bench", "simulation", "src", "testing"],
  ...["package.json", "tsconfig.json", "vitest.config.ts", "redocly.yaml", ".redocly.lint-ignore.yaml"],
  "CHANGELOG.md",
];

export interface ProjectCopy extends AsyncDisposable {
  folder: string;
  /** Runs a program of the copy, by its path in it. */
  run(program: string, args?: string[], signal?: AbortSignal): Promise<Ended>;
}

/** A copy of this project to change and to run things in; it shares the installed packages. */
export async function openProjectCopy(): Promise<ProjectCopy> {
  const folder = await mkdtemp(join(tmpdir(), "project-"));
  for (const part of parts) await cp(join(root, part), join(folder, part), { recursive: true });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  return {
    folder,
    run: (program, args = [], signal) => run(folder, join(folder, program), args, signal),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}
