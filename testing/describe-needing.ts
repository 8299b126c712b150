import { describe } from "vitest";

/**
 * Describes tests that need something which may not be there. They are left out then, and their title says why; in CI,
 * where all must be there, they run and fail.
 */
export const describeNeeding = (needed: string, isThere: boolean) => (title: string, tests: () => void) =>
  isThere || process.env.CI
    ? describe(title, tests)
    : describe.skip(`${title} (left out: there is no ${needed})`, tests);
