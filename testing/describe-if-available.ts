import { describe } from "vitest";

/**
 * Describes tests with a requirement, such as an installed server. Without it they are skipped, and their title states
 * why; in CI, where everything must be available, they run and fail.
 */
export const describeIfAvailable =
  (requirement: string, isAvailable: boolean) => (title: string, tests: () => void) =>
    isAvailable || process.env.CI
      ? describe(title, tests)
      : describe.skip(`${title} (skipped: requires ${requirement})`, tests);
