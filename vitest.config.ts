import { defineConfig } from "vitest/config";
import { complain } from "./src/process/command.ts";
import { patienceMs } from "./testing/patience.ts";
import { rabbitmq4 } from "./testing/servers/rabbitmq.ts";

const common = {
  testTimeout: 5 * patienceMs,
  hookTimeout: 5 * patienceMs,
  // No test depends on those before it: each run has an order of its own, and prints the seed that gives it again
  // (--sequence.seed).
  sequence: { shuffle: { tests: true } },
  expect: { poll: { timeout: patienceMs } },
  // Packages are imported as Node.js imports them.
  deps: { interopDefault: false },
};

/** What runs on the ledger's database runs over each engine: the embedded one, and PostgreSQL where a server answers. */
const onDatabase = [
  "src/ledger/*.test.ts",
  "src/ledger/intake/ingest.test.ts",
  "src/ledger/tables/*.test.ts",
];
/** What takes long by nature: processes under faults, waits by the clock, many rows, tools that are slow to start. */
const slow = [
  "scripts/{contract,servers}/*.test.ts",
  "scripts/checks/audit.test.ts",
  "simulation/planted.test.ts",
  "src/{commands,main,secrets}.test.ts",
  "src/client/package.test.ts",
  "src/{features,ledger}/full-disk.test.ts",
  "src/features/commands/store.test.ts",
  "src/features/many-processes.test.ts",
  "src/features/store/redis.test.ts",
  "src/ledger/{large-messages,many-processes,outage,pooler,standstill}.test.ts",
  "src/ledger/commands/{dead-letters,reproject}.test.ts",
  "src/ledger/database/{pgbouncer,pglite-autovacuum,postgres}.test.ts",
  "src/ledger/queue/amqp.test.ts",
  "src/ledger/tables/{migrate-beside-traffic,search,transaction}.test.ts",
  "src/http/limits.test.ts",
];
/** These choose their engines themselves. */
const onTheirOwn = [
  "src/ledger/{full-disk,large-messages,many-processes,outage,pooler,standstill}.test.ts",
  "src/ledger/tables/migrate-beside-traffic.test.ts",
];

const servers = { TEST_POSTGRES_URL: "PostgreSQL", TEST_AMQP_URL: "RabbitMQ" };
const missing = Object.entries(servers).filter(([variable]) => !process.env[variable]);
for (const [variable, server] of missing) {
  complain(
    `left out: tests over ${server}, since ${variable} is not set; npm run servers -- npm test sets it`,
  );
}
if (!rabbitmq4()) {
  complain(
    "left out: tests over RabbitMQ 4, which npm run servers -- --install installs, and root alone can start",
  );
}

export default defineConfig({
  test: {
    globalSetup: "testing/scratch.ts",
    // Many wait for a server or a process: three files at a time, also where there are two cores.
    maxWorkers: 3,
    projects: [
      {
        test: {
          ...common,
          name: "embedded",
          include: ["src/**/*.test.ts", "{testing,scripts,bench,simulation}/**/*.test.ts"],
          exclude: slow,
        },
      },
      { test: { ...common, name: "slow", include: slow } },
      {
        test: {
          ...common,
          name: "postgres",
          include: process.env.TEST_POSTGRES_URL ? onDatabase : [],
          exclude: onTheirOwn,
          env: { TEST_DATABASE: "postgres" },
        },
      },
    ],
  },
});
