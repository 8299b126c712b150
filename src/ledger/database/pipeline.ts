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

/** Of clients that send a statement before those ahead of it are answered. */
export const pipelineOptions = {
  pipeline: true,
  stream: () => new GatheringSocket(),
} satisfies pg.ClientConfig;

/** Connections for many statements; with a second one, a statement that is not quick holds up only half of the others. */
export const linesMax = 2;

/** What can be asked: a pool, or one of its connections. */
export interface Connection {
  query(statement: pg.QueryConfig): Promise<pg.QueryResult>;
}

/** A connection on which statements wait for their answers; there is at least one. */
interface Line {
  client: Promise<pg.PoolClient>;
  unanswered: number;
  isBroken: boolean;
}

/**
 * The connections of a pool, each for any number of statements at a time: one is sent before those ahead of it are
 * answered, which saves most of what sending and receiving cost when much is asked. Answers come in that order, so
 * every statement has to be quick. The pool must have been opened with the options above.
 */
export function pipelined(pool: pg.Pool): Connection {
  const lines = new Set<Line>();

  function shortestLine(): Line {
    if (lines.size < pool.options.max) {
      const line = { client: pool.connect(), unanswered: 0, isBroken: false };
      lines.add(line);
      return line;
    }
    return [...lines].reduce((shortest, line) => (line.unanswered < shortest.unanswered ? line : shortest));
  }

  return {
    async query(statement) {
      const line = shortestLine();
      line.unanswered += 1;
      try {
        const client = await line.client;
        return await client.query(statement);
      } catch (error) {
        line.isBroken ||= !(error instanceof pg.DatabaseError);
        throw error;
      } finally {
        line.unanswered -= 1;
        if (line.unanswered === 0 || line.isBroken) lines.delete(line);
        if (line.unanswered === 0) {
          line.client.then(
            (client) => client.release(line.isBroken),
            () => {},
          );
        }
      }
    },
  };
}
