import { defineConfig } from "vitest/config";

const common = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000 } } };

/** What runs on the ledger's database runs over each engine: the embedded one, and PostgreSQL where a server answers. */
const onDatabase = ["src/ledger/*.test.ts", "src/ledger/{intake,tables}/*.test.ts"];

export default defineConfig({
  test: {
    projects: [
      {
        test: { ...common, name: "embedded", include: ["src/**/*.test.ts", "scripts/**/*.test.ts"] },
      },
      ...(process.env.TEST_POSTGRES_URL
        ? [{ test: { ...common, name: "postgres", include: onDatabase, env: { TEST_DATABASE: "postgres" } } }]
        : []),
    ],
  },
});
