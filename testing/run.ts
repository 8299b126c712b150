import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect } from "vitest";
import { eventually } from "./eventually.ts";

const source = (path: string) => fileURLToPath(new URL(`../src/${path}`, import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "programs-"));
const running = new Set<ReturnType<typeof spawn>>();
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(scratch, { recursive: true });
});

let folders = 0;
export function newFolder() {
  const folder = join(scratch, `run-${folders++}`);
  mkdirSync(folder);
  return folder;
}

/**
 * Runs a program of this repository, named by its path in `src`, in a folder of its own. Its input ends behind the text
 * unless it is said that more may come.
 */
export function run(
  program: string,
  { args = [] as string[], env = {}, folder = scratch, input = "", mayGoOn = false } = {},
) {
  const child = spawn(process.execPath, [source(program), ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: "pipe",
  });
  running.add(child);
  let output = "";
  let errors = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (errors += chunk));
  child.stdin.write(input);
  if (!mayGoOn) child.stdin.end();
  const ended = once(child, "close").then(([code]) => {
    running.delete(child);
    return { code, output, errors };
  });
  return {
    child,
    ended,
    /** Waits until the output has this text. */
    says: (text: string) => eventually(() => expect(output).toContain(text)),
    output: () => output,
  };
}
