import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { type RunningProcess, startProcess } from "./child-process.ts";
import { eventually } from "./eventually.ts";
import { root } from "./project.ts";

const scratch = mkdtempSync(join(tmpdir(), "programs-"));
const started: RunningProcess[] = [];
afterAll(() => {
  for (const { child } of started) child.kill("SIGKILL");
  rmSync(scratch, { recursive: true });
});

let folders = 0;
export function newFolder() {
  const folder = join(scratch, `run-${folders++}`);
  mkdirSync(folder);
  return folder;
}

/**
 * Starts the program at this path in the repository, with `env` added to the environment of the tests. It is killed
 * after the tests of the file. Its input ends after `input` unless `keepInputOpen`.
 */
export function run(
  program: string,
  { args = [] as string[], env = {}, folder = scratch, input = "", keepInputOpen = false } = {},
) {
  const running = startProcess([process.execPath, join(root, program), ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    input,
    keepInputOpen,
  });
  started.push(running);
  return {
    ...running,
    /** Resolves when the output contains this text. */
    waitForOutput: (text: string) => eventually(() => expect(running.output()).toContain(text)),
  };
}

/** What a command has written to standard error, without the lines of progress that a slow machine sees. */
export const withoutProgress = (errors: string): string =>
  errors.replace(/^.*, [\d,]+\/s(, .* remaining)?\n/gm, "");
