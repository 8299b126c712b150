import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** A folder that all tests of a run share, for files that are made once. */
    scratch: string;
  }
}

/** Vitest calls this before the first test of a run, and the returned function after the last one. */
export function setup({ provide }: TestProject): () => void {
  const scratch = mkdtempSync(join(tmpdir(), "tests-"));
  provide("scratch", scratch);
  return () => rmSync(scratch, { recursive: true });
}
