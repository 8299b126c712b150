import { vi } from "vitest";
import { patienceMs } from "./patience.ts";

/** Tries until the work succeeds; resolves with its result. */
export const eventually = <Result>(work: () => Result | Promise<Result>): Promise<Result> =>
  vi.waitFor(work, { timeout: patienceMs });
