import { vi } from "vitest";
import { testWaitMaxMs } from "./test-wait-max.ts";

/** Repeats the work until it succeeds, for up to `testWaitMaxMs`. Resolves with its result. */
export const eventually = <Result>(work: () => Result | Promise<Result>): Promise<Result> =>
  vi.waitFor(work, { timeout: testWaitMaxMs });
