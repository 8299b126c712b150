import { readFile } from "node:fs/promises";
import pg from "pg";
import { hostOf } from "../../service/adapter.ts";
import { parseExactly } from "../../service/exact-json.ts";
import {
  type Connections,
  type Database,
  DatabaseUnavailable,
  givenUpAfter,
  isOfTheMoment,
  type Sql,
  StatementTimeout,
} from "./database.ts";
import { type Connection, linesMax, pipelined, pipelineOptions } from "./pipeline.ts";
import { readTimestamp } from "./timestamp.ts";

const poolSizeOtherwise = 10;
const connectSecondsOtherwise = 5;
const idleMs = 60_000;
/** Who works without a time limit is few, and bounded by itself: by the batches in hand. */
const unlimitedMax = 1000;
/** Until the system asks whether the other side of a connection is still there. */
const keepAliveMs = 10_000;
/** How long a look at whether the server is there may take. */
const checkMaxMs = 2000;
/** The server ends a statement that runs out of time; one that does not even do that is given up on. */
const answerGraceMs = 500;

/**
 * A PostgreSQL server, through connections that are opened when they are needed, and anew when they broke. Statements
 * within a limit have pools of their own: the server is told the limit when a connection begins.
 */
export async function open(url: URL): Promise<Database> {
  const config = await configOf(url);
  const unlimited = openPool({ ...config, ...pipelineOptions, max: unlimitedMax });
  const limited: pg.Pool[] = [];
  return {
    ...sqlOver(unlimited, rejection),
    within(limitMs) {
      const limits = {
        ...config,
        statement_timeout: limitMs,
        query_timeout: limitMs + answerGraceMs,
        connectionTimeoutMillis: limitMs,
      };
      const exclusive = openPool(limits);
      const shared = openPool({ ...limits, ...pipelineOptions, max: linesMax });
      limited.push(exclusive, shared);
      const rejectionInTime = (error: unknown) =>
        isOutOfTime(error) ? new StatementTimeout(limitMs) : rejection(error);
      return givenUpAfter(limitMs, sqlOver(exclusive, rejectionInTime, pipelined(shared)));
    },
    async transaction(work) {
      const client = await inTerms(rejection, unlimited.connect());
      const sql = sqlOver(client, rejection);
      try {
        const [, result] = await Promise.all([sql.run("begin isolation level read committed"), work(sql)]);
        await sql.run("commit");
        client.release();
        return result;
      } catch (error) {
        // A connection that cannot even roll back is of no use any more, nor one whose kept plans are of another time.
        const isOfUse = () => client.release(error instanceof DatabaseUnavailable);
        await client.query("rollback").then(isOfUse, client.release);
        throw error;
      }
    },
    async check() {
      const look = { text: "select 1", query_timeout: checkMaxMs };
      await inTerms(rejection, unlimited.query(look));
    },
    connections: () => ({ unlimited: usageOf([unlimited]), limited: usageOf(limited) }),
    async [Symbol.asyncDispose]() {
      await Promise.all([unlimited, ...limited].map((pool) => pool.end()));
    },
  };
}

async function configOf(url: URL): Promise<pg.PoolConfig> {
  const parameter = (name: string) => url.searchParams.get(name) ?? undefined;
  const part = (text: string) => decodeURIComponent(text) || undefined;
  return {
    host: part(hostOf(url)),
    port: url.port === "" ? undefined : Number(url.port),
    user: part(url.username),
    password: part(url.password),
    database: part(url.pathname.slice(1)),
    ssl: await tlsOf(parameter("sslmode"), parameter("sslrootcert")),
    max: Number(parameter("pool") ?? poolSizeOtherwise),
    connectionTimeoutMillis: Number(parameter("connect_timeout") ?? connectSecondsOtherwise) * 1000,
  };
}

/** As libpq's words mean it: `require` encrypts and trusts whoever answers, `verify-full` knows the server by its name. */
async function tlsOf(mode: string | undefined, rootFile: string | undefined): Promise<pg.PoolConfig["ssl"]> {
  if (mode !== "verify-full" && rootFile !== undefined)
    throw new Error("sslrootcert needs sslmode=verify-full");
  if (mode === "verify-full") return { ...(rootFile && { ca: await readAuthority(rootFile) }) };
  return mode === "require" && { rejectUnauthorized: false };
}

async function readAuthority(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new Error(`sslrootcert ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function openPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({
    ...config,
    application_name: "payment-ledger",
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    idleTimeoutMillis: idleMs,
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
    async onConnect(client) {
      // A connection that breaks says so to whoever uses it next; without a listener it would end the process.
      client.on("error", () => {});
      // A server, a database and a role may have others; what is read of a time depends on both.
      // Compiling takes longer than most statements.
      await client.query("set time zone 'UTC'; set datestyle = 'ISO'; set jit = off");
    },
  });
  return pool.on("error", () => {});
}

const { INT8, JSONB, TIMESTAMPTZ } = pg.types.builtins;

function parserOf(type: number, format?: "text" | "binary"): unknown {
  if (type === INT8) return BigInt;
  if (type === JSONB) return (text: string) => parseExactly(text);
  if (type === TIMESTAMPTZ) return readTimestamp;
  return pg.types.getTypeParser(type, format as "text");
}

/** The names of the statements that are kept: the same in every connection, and few, since their texts are ours. */
const names = new Map<string, string>();

function nameOf(text: string): string {
  const name = names.get(text) ?? `statement_${names.size}`;
  names.set(text, name);
  return name;
}

type Rejection = (error: unknown) => unknown;

/** The same, but it rejects in the port's own terms. */
const inTerms = <Result>(rejection: Rejection, work: Promise<Result>): Promise<Result> =>
  work.catch((error) => {
    throw rejection(error);
  });

const sqlOver = (
  connection: pg.Pool | pg.PoolClient,
  rejection: Rejection,
  quick: Connection = connection,
): Sql => ({
  async query<Row>(text: string, values: unknown[] = [], plan = "kept") {
    const asked = { text, values };
    const asking =
      plan === "once"
        ? connection.query(asked)
        : quick.query({ ...asked, name: nameOf(text) }).catch((error) => {
            // Within a transaction nothing can be asked any more.
            if (hasNoPlan(error) && connection instanceof pg.Pool) return connection.query(asked);
            throw error;
          });
    return (await inTerms(rejection, asking)).rows as Row[];
  },
  async run(script) {
    await inTerms(rejection, connection.query(script));
  },
});

/**
 * What the server says of a statement stays as it is, unless it is of the moment. What anyone else says is that there is
 * no connection.
 */
function rejection(error: unknown): unknown {
  if (error instanceof TypeError) return error;
  const isAnswer = error instanceof pg.DatabaseError;
  return !isAnswer || isOfTheMoment(error.code) ? new DatabaseUnavailable(error) : error;
}

/**
 * The columns of a table have changed since the plan was made; or the statement that was sent ahead to be prepared
 * failed.
 */
const hasNoPlan = (error: unknown) =>
  error instanceof pg.DatabaseError && (error.code === "0A000" || error.code === "26000");

const queryCanceled = "57014";

/** What the pool says when within the limit no connection became free, or none could be made. */
const noConnection = [
  "timeout exceeded when trying to connect",
  "Connection terminated due to connection timeout",
];

/** The server ended the statement, or it had no connection in time. */
const isOutOfTime = (error: unknown): boolean =>
  error instanceof pg.DatabaseError
    ? error.code === queryCanceled
    : noConnection.includes((error as Error).message);

function usageOf(pools: pg.Pool[]): Connections {
  const sum = (count: (pool: pg.Pool) => number) => pools.reduce((total, pool) => total + count(pool), 0);
  return {
    busy: sum(({ totalCount, idleCount }) => totalCount - idleCount),
    idle: sum(({ idleCount }) => idleCount),
    waiting: sum(({ waitingCount }) => waitingCount),
  };
}
