/**
 * Slow tests: processes under faults, waits for real time, many rows, tools with a slow start. Each group is a project of
 * Vitest, `slow-NAME`, and one of the long checks.
 */
export const slowTests = {
  workshop: [
    "scripts/{contract,servers}/*.test.ts",
    "scripts/token.test.ts",
    "scripts/checks/{audit,openfeature-python}.test.ts",
    "simulation/planted.test.ts",
  ],
  process: [
    "src/main.test.ts",
    "src/tests/{backup,commands,private-files,readme,secrets,erasure}.test.ts",
    "src/http/limits/limits.test.ts",
  ],
  pages: [
    "src/tests/{console,console-known,features-console,pages,sign-in}.test.ts",
    "src/http/documents/pages.test.ts",
    "src/features/tests/web-provider.test.ts",
    "src/client/package.test.ts",
  ],
  features: [
    "src/client/openfeature-history.test.ts",
    "src/features/tests/{full-disk,many-processes}.test.ts",
    "src/features/commands/store.test.ts",
    "src/features/store/{outages,postgres/postgres,redis/redis}.test.ts",
  ],
  database: [
    "src/database/pglite/{autovacuum,memory}.test.ts",
    "src/database/postgres/{hosts,pgbouncer,postgres}.test.ts",
    "src/ledger/tables/{migrate-beside-traffic,search/search,transaction}.test.ts",
  ],
  queues: [
    "src/ledger/queue/{amqp/amqp,kafka/broker}.test.ts",
    "src/ledger/queue/sqs/embedded/{backlog,full-disk,killed}.test.ts",
    "src/ledger/commands/{dead-letters,export,reproject}.test.ts",
  ],
  outages: ["src/ledger/tests/{failover,outage,pooler,standstill}.test.ts"],
  proxies: ["src/tests/proxies.test.ts"],
  processes: [
    "src/ledger/tests/{access-records-faults,feed-servers,position-servers,full-disk,large-messages,many-processes,publishing}.test.ts",
  ],
};

/** Tests that compare times. Nothing else may use the processors. */
export const aloneTests = ["src/tests/console-speed.test.ts"];
