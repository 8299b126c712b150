import { Socket } from "node:net";
import pg from "pg";

/** Sends all that is written within a turn of the event loop at once. */
class GatheringSocket extends Socket {
  #isGathering = false;

  /** As the client does before each statement. */
  override cork(): void {
    super.cork();
    if (this.#isGathering) return;
    this.#isGathering = true;
    super.cork();
    setImmediate(() => {
      this.#isGathering = false;
      this.uncork();
    });
  }
}

/** Of the clients here, which send a statement before those ahead of it are answered. */
export const pipelineOptions = {
  pipeline: true,
  stream: () => new GatheringSocket(),
} satisfies pg.ClientConfig;

/** Connections for many statements; with a second one, a statement that is not quick holds up only half of the others. */
export const linesMax = 2;

/** Does work on a connection of a pool. */
export type Use = <Result>(work: (client: pg.PoolClient) => Promise<Result>) => Promise<Result>;

/** On one that nobody else uses meanwhile. */
export const alone =
  (pool: pg.Pool): Use =>
  async (work) => {
    const client = await pool.connect();
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
  };

/** A connection on which statements wait for their answers; there is at least one. */
interface Line {
  client: Promise<pg.PoolClient>;
  unanswered: number;
  /** What broke it. */
  failure?: Error;
}

/**
 * The connections of a pool, each for any number of statements at a time: one is sent before those ahead of it are
 * answered, which saves most of what sending and receiving cost when much is asked. Answers come in that order, so
 * every statement has to be quick.
 */
export function pipelined(pool: pg.Pool): Use {
  const lines = new Set<Line>();

  function shortestLine(): Line {
    if (lines.size < pool.options.max) {
      const line: Line = { client: pool.connect(), unanswered: 0 };
      lines.add(line);
      return line;
    }
    return [...lines].reduce((shortest, line) => (line.unanswered < shortest.unanswered ? line : shortest));
  }

  return async (work) => {
    const line = shortestLine();
    line.unanswered += 1;
    try {
      return await work(await line.client);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) line.failure ??= error as Error;
      throw error;
    } finally {
      line.unanswered -= 1;
      if (line.unanswered === 0 || line.failure) lines.delete(line);
      if (line.unanswered === 0) {
        line.client.then(
          (client) => client.release(line.failure),
          () => {},
        );
      }
    }
  };
}
