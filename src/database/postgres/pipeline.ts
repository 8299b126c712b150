import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import pg from "pg";
import { isTurnOver } from "../../waiting/turns.ts";
import { requireReplication } from "./session.ts";

/** Sends everything that is written within one turn of the event loop in one write. */
class BatchingSocket extends Socket {
  #isBatching = false;

  /** The client calls this before each statement. */
  override cork(): void {
    super.cork();
    if (this.#isBatching) return;
    this.#isBatching = true;
    super.cork();
    setImmediate(() => {
      this.#isBatching = false;
      this.uncork();
    });
  }
}

/** Options of clients that send a statement before the earlier ones have a response. */
export const pipelineOptions = {
  pipeline: true,
  stream: () => new BatchingSocket(),
} satisfies pg.ClientConfig;

/** More of a result may follow a piece of this many bytes, which is what a TLS record can contain. */
const longPiece = 2 ** 14;

/**
 * Reads long results in turns of the event loop. A socket delivers up to 2 MB in one turn, and rows are parsed as they
 * arrive.
 */
export function readInTurns(socket: Duplex): void {
  socket.on("data", (piece: Buffer) => {
    if (piece.length < longPiece || !isTurnOver()) return;
    socket.pause();
    setImmediate(() => socket.resume());
  });
}

/** Number of pipelined connections. With two, a slow statement delays only half of the others. */
export const pipelinesMax = 2;

/** Runs work on a connection of a pool. */
export type Use = <Result>(work: (client: pg.PoolClient) => Promise<Result>) => Promise<Result>;

/** Gives each work its own connection. */
export const exclusive =
  (pool: pg.Pool): Use =>
  async (work) => {
    const client = await pool.connect();
    try {
      const result = await work(client);
      requireReplication(client);
      client.release();
      return result;
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
  };

/** A connection with statements that wait for their responses. */
interface PipelinedConnection {
  client: Promise<pg.PoolClient>;
  pending: number;
  /** The error that broke the connection. */
  failure?: Error;
}

/**
 * Pipelines statements on the connections of a pool: a statement is sent before the earlier ones have a response. Under load
 * this saves most of the cost of sending and receiving. Responses come in order, so every statement must be quick.
 */
export function pipelined(pool: pg.Pool): Use {
  const connections = new Set<PipelinedConnection>();

  function leastBusy(): PipelinedConnection {
    if (connections.size < pool.options.max) {
      const connection: PipelinedConnection = { client: pool.connect(), pending: 0 };
      connections.add(connection);
      return connection;
    }
    return [...connections].reduce((least, other) => (other.pending < least.pending ? other : least));
  }

  return async (work) => {
    const connection = leastBusy();
    connection.pending += 1;
    try {
      const client = await connection.client;
      const result = await work(client);
      requireReplication(client);
      return result;
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) connection.failure ??= error as Error;
      throw error;
    } finally {
      connection.pending -= 1;
      if (connection.pending === 0 || connection.failure) connections.delete(connection);
      if (connection.pending === 0) {
        connection.client.then(
          (client) => client.release(connection.failure),
          () => {},
        );
      }
    }
  };
}
