import pg from "pg";
import { parseExactly } from "../../values/exact-json.ts";
import { readTimestamp } from "../../values/timestamp.ts";
import type { Connections, Limits } from "../database.ts";
import { pipelineOptions, readInTurns } from "./pipeline.ts";
import { prepare, responseMaxMs, watchReplication } from "./session.ts";

const idleMs = 60_000;
/** Idle time before the operating system probes a connection. */
const keepAliveMs = 10_000;

/** A pool that can close its idle connections. */
export class Pool extends pg.Pool {
  readonly #idle = new Set<pg.PoolClient>();

  constructor(config: pg.PoolConfig) {
    super(config);
    this.on("release", (_error, client) => this.#idle.add(client));
    this.on("acquire", (client) => this.#idle.delete(client));
    this.on("remove", (client) => this.#idle.delete(client));
  }

  /** Closes idle connections without waiting for the server, which may not respond. */
  endIdle(): void {
    for (const client of this.#idle) client.connection.stream.destroy(new Error("another connection broke"));
  }
}

/** Opens a pool whose connections have these limits. */
export function openPool(config: pg.PoolConfig, limits: Limits): Pool {
  const pool = new Pool({
    ...config,
    ...pipelineOptions,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    idleTimeoutMillis: idleMs,
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
    async onConnect(connected) {
      const client = connected as pg.Client;
      // The next user of a broken connection gets the error. Without a listener it would end the process.
      client.on("error", () => {});
      readInTurns(client.connection.stream);
      watchReplication(client);
      await prepare(client, limits, config.connectionTimeoutMillis || responseMaxMs(limits));
    },
  });
  return pool.on("error", () => {});
}

const { INT8, JSON: JSON_TEXT, JSONB, TIMESTAMPTZ } = pg.types.builtins;

function parserOf(type: number, format?: "text" | "binary"): unknown {
  if (type === INT8) return BigInt;
  if (type === JSONB || type === JSON_TEXT) return (text: string) => parseExactly(text);
  if (type === TIMESTAMPTZ) return readTimestamp;
  return pg.types.getTypeParser(type, format as "text");
}

export function usageOf(pools: pg.Pool[]): Connections {
  const sum = (count: (pool: pg.Pool) => number) => pools.reduce((total, pool) => total + count(pool), 0);
  return {
    busy: sum(({ totalCount, idleCount }) => totalCount - idleCount),
    idle: sum(({ idleCount }) => idleCount),
    waiting: sum(({ waitingCount }) => waitingCount),
  };
}
