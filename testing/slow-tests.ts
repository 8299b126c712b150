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
  process: ["src/{backup,commands,main,private-files,readme,secrets}.test.ts", "src/http/limits.test.ts"],
  pages: [
    "src/{console,pages}.test.ts",
    "src/http/docs/pages.test.ts",
    "src/features/web-provider.test.ts",
    "src/client/package.test.ts",
  ],
  features: [
    "src/client/openfeature-history.test.ts",
    "src/features/{full-disk,many-processes}.test.ts",
    "src/features/commands/store.test.ts",
    "src/features/store/{outages,postgres,redis}.test.ts",
  ],
  database: [
    "src/database/{hosts,pgbouncer,pglite-autovacuum,pglite-memory,postgres}.test.ts",
    "src/ledger/tables/{migrate-beside-traffic,search,transaction}.test.ts",
  ],
  queues: [
    "src/ledger/queue/{amqp,kafka}.test.ts",
    "src/ledger/queue/embedded/{backlog,full-disk,killed}.test.ts",
    "src/ledger/commands/{dead-letters,reproject}.test.ts",
  ],
  outages: ["src/ledger/{failover,outage,pooler,standstill}.test.ts"],
  proxies: ["src/proxies.test.ts"],
  processes: ["src/ledger/{feed-servers,full-disk,large-messages,many-processes,publishing}.test.ts"],
};

/** Tests that compare times. Nothing else may use the processors. */
export const aloneTests = ["src/console-speed.test.ts"];
