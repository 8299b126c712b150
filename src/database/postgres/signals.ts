import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { repeat } from "../../waiting/repeat.ts";
import type { Signals, Sql } from "../database.ts";
import { openPool } from "./pool.ts";
import { isPooled, send, withoutLimits } from "./session.ts";

/** The interval between two signals: each wakes every process that listens. */
const sendEveryMs = 10;
/** The delay after a connection could not be opened, or broke. */
const failureDelayMs = 1000;
/** The delay until the next attempt to listen behind a pooler. */
const pooledDelayMs = 60_000;
/** The limit for a connection, and for the response to `listen`: a stop waits for both. */
const responseMaxMs = 5000;

/**
 * Signals of PostgreSQL. `listen` has a connection of its own, to the primary. Behind a pooler that is not possible, since its
 * sessions can serve others: then this process hears nothing. A signal is a transaction of its own: in the transaction of
 * a writer, all of these would commit one after the other.
 */
export function openSignals(config: pg.PoolConfig, sql: Sql, channel: string, hear: () => void): Signals {
  const pool = openPool({ ...config, max: 1, connectionTimeoutMillis: responseMaxMs }, withoutLimits);
  const sender = randomUUID();
  let isDue = false;
  let isSending = false;

  async function sendDue(): Promise<void> {
    isSending = true;
    while (isDue) {
      isDue = false;
      await sql.query("select pg_notify($1, $2)", [channel, sender]).catch(() => {});
      await sleep(sendEveryMs, undefined, { ref: false });
    }
    isSending = false;
  }

  async function listen(client: pg.PoolClient, stop: AbortSignal): Promise<number> {
    if (isPooled(client)) return pooledDelayMs;
    client.on("notification", ({ channel: from, payload }) => {
      if (from === channel && payload !== sender) hear();
    });
    const ended = once(client, "end", { signal: stop }).catch(() => {});
    await send(client, { text: `listen "${channel}"` }, responseMaxMs);
    // What others have sent before was lost.
    hear();
    await ended;
    return failureDelayMs;
  }

  const listening = repeat(
    async (stop) => {
      let client: pg.PoolClient | undefined;
      try {
        client = await pool.connect();
        return await listen(client, stop);
      } catch {
        return failureDelayMs;
      } finally {
        client?.release(true);
      }
    },
    { keepsProcess: false },
  );
  return {
    send() {
      isDue = true;
      if (!isSending) void sendDue();
    },
    async [Symbol.asyncDispose]() {
      isDue = false;
      await listening[Symbol.asyncDispose]();
      await pool.end();
    },
  };
}
