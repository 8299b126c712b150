import { cp, mkdtempDisposable, readdir, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Exit, runProcess } from "./child-process.ts";
import { disposing } from "./disposing.ts";

/** The folder of this project. */
export const root = fileURLToPath(new URL("../", import.meta.url));

/** The file names of the contracts in a folder. */
export const contractsIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((file) => file.endsWith(".yaml")).sort();

/** Runs a Node.js program in a folder. Rejects only if the signal aborts. */
const run = (cwd: string, program: string, args: string[], signal?: AbortSignal): Promise<Exit> =>
  runProcess([process.execPath, program, ...args], { cwd, ...(signal && { signal }) });

const redoclyProgram = fileURLToPath(import.meta.resolve("@redocly/cli/bin/cli.js"));

/** Runs Redocly, which lints and bundles contracts. */
export const redocly = (args: string[], folder = root): Promise<Exit> => run(folder, redoclyProgram, args);

/** Packages, which a copy shares, and what programs have written here. */
const notCopied = [".git", "node_modules", "data", "dist", "reports"];

export type ProjectCopy = Awaited<ReturnType<typeof openProjectCopy>>;

/** Copies this project, to change it and to run programs in it. The copy shares the installed packages. */
export async function openProjectCopy() {
  await using opening = new AsyncDisposableStack();
  const { path: folder } = opening.use(await mkdtempDisposable(join(tmpdir(), "project-")));
  for (const part of await readdir(root)) {
    if (!notCopied.includes(part)) await cp(join(root, part), join(folder, part), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  return disposing(opening, {
    folder,
    /** Runs the program at this path in the copy. */
    run: (program: string, args: string[] = [], signal?: AbortSignal) =>
      run(folder, join(folder, program), args, signal),
  });
}
