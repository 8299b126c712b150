import { defineConfig } from "vitest/config";
import { complain } from "./src/process/command.ts";
import { rabbitmq4 } from "./testing/servers/rabbitmq.ts";
import { aloneTests, slowTests } from "./testing/slow-tests.ts";
import { testWaitMaxMs } from "./testing/test-wait-max.ts";

const common = {
  testTimeout: 5 * testWaitMaxMs,
  hookTimeout: 5 * testWaitMaxMs,
  // No test may depend on another: the order is random. A run prints its seed; --sequence.seed repeats the order.
  sequence: { shuffle: { tests: true } },
  expect: { poll: { timeout: testWaitMaxMs } },
  // Default imports of CommonJS packages are as in Node.js.
  deps: { interopDefault: false },
};

/** Tests that replace modules, or start processes that end after the file, have a process for each file. */
const isolated = [
  "src/features/tests/{changes,flag-events,streams}.test.ts",
  "src/features/store/**/*.test.ts",
  "src/http/limits/unsent.test.ts",
  "src/ledger/queue/**/*.test.ts",
  "src/ledger/publishing/target.test.ts",
  "src/ledger/tables/migrate.test.ts",
];
const slow = Object.values(slowTests).flat();

/** Tests that use the database of the ledger run on the embedded engine, and on PostgreSQL if it is available. */
const onPostgres = (name: string, include: string[], exclude: string[] = []) => ({
  test: {
    ...common,
    name,
    exclude,
    include: process.env.TEST_POSTGRES_URL ? include : [],
    env: { TEST_DATABASE: "postgres" },
  },
});
const fastOnDatabase = [
  "src/ledger/tests/*.test.ts",
  "src/ledger/intake/ingest.test.ts",
  "src/ledger/publishing/publisher.test.ts",
  "src/ledger/tables/**/*.test.ts",
];
const slowOnDatabase = ["src/ledger/tables/{search/search,transaction}.test.ts"];

const servers = {
  TEST_POSTGRES_URL: "PostgreSQL",
  TEST_AMQP_URL: "RabbitMQ",
  TEST_KAFKA_URL: "Kafka",
  TEST_REDIS_URL: "Redis",
  TEST_REDIS_CLUSTER_URL: "Redis Cluster",
};
const missing = Object.entries(servers).filter(([variable]) => !process.env[variable]);
for (const [variable, server] of missing) {
  complain(
    `skipped: tests on ${server}, because ${variable} is not set; npm run servers -- npm test sets it`,
  );
}
if (!rabbitmq4()) {
  complain(
    "skipped: tests on RabbitMQ 4; npm run servers -- --install installs it, and only root can start it",
  );
}

export default defineConfig({
  test: {
    globalSetup: "testing/scratch.ts",
    // Three files at a time, also on two cores, since many tests wait for a server or a process.
    maxWorkers: 3,
    projects: [
      {
        test: {
          ...common,
          name: "embedded",
          include: ["src/**/*.test.ts", "{testing,scripts,bench,simulation}/**/*.test.ts"],
          exclude: [...slow, ...aloneTests, ...isolated],
          // The files of a process share its modules, since to load them takes a third of the time.
          isolate: false,
        },
      },
      { test: { ...common, name: "isolated", include: isolated, exclude: slow } },
      ...Object.entries(slowTests).map(([name, include]) => ({
        test: { ...common, name: `slow-${name}`, include },
      })),
      { test: { ...common, name: "alone", include: aloneTests } },
      onPostgres("postgres", fastOnDatabase, slow),
      onPostgres("slow-database-postgres", slowOnDatabase),
      {
        test: {
          ...common,
          name: "slow-queues-rabbitmq4",
          include: ["src/ledger/queue/amqp/amqp.test.ts"],
          env: { TEST_RABBITMQ: "4" },
        },
      },
    ],
  },
});
