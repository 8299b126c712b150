import { defineConfig } from "vitest/config";
import { complain } from "./src/process/command.ts";
import { rabbitmq4 } from "./testing/servers/rabbitmq.ts";
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

/** Tests that use the database of the ledger. They run on the embedded engine, and on PostgreSQL if it is available. */
const onDatabase = [
  "src/ledger/*.test.ts",
  "src/ledger/intake/ingest.test.ts",
  "src/ledger/publishing/publisher.test.ts",
  "src/ledger/tables/*.test.ts",
];
/** Slow tests of the database of the ledger. They run on both engines, too. */
const slowOnDatabase = ["src/ledger/tables/{search,transaction}.test.ts"];
/** Slow tests: processes under faults, waits for real time, many rows, tools with a slow start. */
const slow = [
  "scripts/{contract,servers}/*.test.ts",
  "scripts/token.test.ts",
  "scripts/checks/{audit,openfeature-python}.test.ts",
  "simulation/planted.test.ts",
  "src/{backup,commands,console,main,secrets}.test.ts",
  "src/client/{openfeature-history,package}.test.ts",
  "src/{features,ledger}/full-disk.test.ts",
  "src/features/commands/store.test.ts",
  "src/features/{many-processes,web-provider}.test.ts",
  "src/features/store/{postgres,redis}.test.ts",
  "src/ledger/{failover,feed-servers,large-messages,many-processes,outage,pooler,publishing,standstill}.test.ts",
  "src/ledger/commands/{dead-letters,reproject}.test.ts",
  "src/database/{hosts,pgbouncer,pglite-autovacuum,pglite-memory,postgres}.test.ts",
  "src/ledger/queue/{amqp,kafka}.test.ts",
  "src/ledger/tables/migrate-beside-traffic.test.ts",
  ...slowOnDatabase,
  "src/http/{docs/pages,limits}.test.ts",
];
/** Tests that compare times. They run after all others, when nothing else uses the processors. */
const alone = ["src/console-speed.test.ts"];
/** Tests that select their engines themselves. */
const selectEngines = [
  "src/ledger/{failover,feed-servers,full-disk,large-messages,many-processes,outage,pooler,publishing,standstill}.test.ts",
  "src/ledger/tables/migrate-beside-traffic.test.ts",
];

const servers = { TEST_POSTGRES_URL: "PostgreSQL", TEST_AMQP_URL: "RabbitMQ", TEST_KAFKA_URL: "Kafka" };
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
          exclude: [...slow, ...alone],
        },
      },
      { test: { ...common, name: "slow", include: slow } },
      {
        test: {
          ...common,
          name: "alone",
          include: alone,
          sequence: { ...common.sequence, groupOrder: 1 },
        },
      },
      {
        test: {
          ...common,
          name: "postgres",
          include: process.env.TEST_POSTGRES_URL ? onDatabase : [],
          exclude: [...selectEngines, ...slowOnDatabase],
          env: { TEST_DATABASE: "postgres" },
        },
      },
      {
        test: {
          ...common,
          name: "slow-postgres",
          include: process.env.TEST_POSTGRES_URL ? slowOnDatabase : [],
          env: { TEST_DATABASE: "postgres" },
        },
      },
    ],
  },
});
