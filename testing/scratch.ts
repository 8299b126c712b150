import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { isRunning } from "./servers/server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** A folder that all tests of a run share, for files that are made once. */
    scratch: string;
  }
}

const memory = "/dev/shm";
/** The files of a run, of which a database has 40 MiB, need less. */
const memoryMinBytes = 4 * 2 ** 30;

/** The folder for temporary files: in memory, since tests make hundreds of databases of a thousand files each. */
function parentFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize >= memoryMinBytes) return memory;
  } catch {
    // Only Linux has it.
  }
  return tmpdir();
}

/** The file systems that are mounted in a folder. */
const mountsIn = (folder: string): string[] =>
  (existsSync("/proc/mounts") ? readFileSync("/proc/mounts", "utf8").split("\n") : [])
    .map((line) => line.split(" ")[1] ?? "")
    .filter((path) => path.startsWith(`${folder}/`));

/** Removes what runs left that were killed. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = /^tests-(\d+)-/.exec(name)?.[1];
    if (!pid || isRunning(Number(pid))) continue;
    const leftover = join(folder, name);
    for (const mount of mountsIn(leftover)) execFileSync("umount", ["--lazy", mount]);
    rmSync(leftover, { recursive: true, force: true });
  }
}

/** Vitest calls this before the first test of a run, and the returned function after the last one. */
export function setup({ provide }: TestProject): () => void {
  const parent = parentFolder();
  removeLeftovers(parent);
  const scratch = mkdtempSync(join(parent, `tests-${process.pid}-`));
  chmodSync(scratch, 0o755); // Servers run as other users.
  process.env.TMPDIR = scratch;
  process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
    new URL("../node_modules/.cache/compiled", import.meta.url),
  );
  provide("scratch", scratch);
  return () => rmSync(scratch, { recursive: true, force: true });
}
