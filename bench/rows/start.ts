import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../../testing/servers/postgres.ts";
import { type Server, startBaseline, startService } from "../programs.ts";
import type { Row } from "../row.ts";

/** The time until the server exits is not measured. */
async function startMs(start: () => Promise<Server>): Promise<number> {
  await using server = await start();
  return server.startMs;
}

export const start: Row = {
  title: "start to first response",
  async open(_scale, opened) {
    const postgres = opened.use(await startPostgres());
    const folder = opened.use(await mkdtempDisposable(join(tmpdir(), "ledger-")));
    const ledgerOn = (database: string) => () =>
      startService("ledger", { env: { DATABASE_URL: database, QUEUE_URL: "memory:" }, path: "/healthcheck" });
    const ledgers = { pglite: ledgerOn(`pglite:${folder.path}`), postgres: ledgerOn(postgres.url) };
    // The first start creates the tables.
    for (const ledger of Object.values(ledgers)) await startMs(ledger);
    const baseline = {
      name: "Fastify, hello world",
      measure: () => startMs(() => startBaseline("hello.js")),
    };
    const features = () =>
      startService("features", { env: { FEATURES_STORE_URL: "memory:" }, path: "/features/a/1/b" });
    const unit = "ms";
    return [
      { name: "features", unit, ours: () => startMs(features), baseline, target: { atMost: 3 } },
      { name: "ledger, PGlite", unit, ours: () => startMs(ledgers.pglite), target: { atMost: 1500 } },
      {
        name: "ledger, PostgreSQL",
        unit,
        ours: () => startMs(ledgers.postgres),
        baseline,
        target: { atMost: 5 },
      },
    ];
  },
};
