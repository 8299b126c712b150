import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { hostOf } from "../../process/adapter.ts";
import { parseExactly } from "../../values/exact-json.ts";
import {
  type Connections,
  type Database,
  DatabaseUnavailable,
  givenUpAfter,
  isFileFault,
  isOfTheMoment,
  type Limits,
  type Sql,
  StatementTimeout,
} from "./database.ts";
import { alone, linesMax, pipelined, pipelineOptions, type Use } from "./pipeline.ts";
import {
  answeredWithin,
  beginning,
  isPooled,
  nameIn,
  prepare,
  usualLimits,
  withoutLimits,
} from "./session.ts";
import { readTimestamp } from "./timestamp.ts";

const poolSizeOtherwise = 10;
const connectSecondsOtherwise = 5;
const idleMs = 60_000;
/** Connections for work outside `within`: they are few, and bounded by the batches in hand. */
const workingMax = 1000;
/** Until the system asks whether the other side of a connection is still there. */
const keepAliveMs = 10_000;
/** How long a look at whether the server is there may take. */
const checkMaxMs = 2000;
/** The server ends a statement that runs out of time; a connection on which it does not even do that is ended by us. */
const answerGraceMs = 500;
/** Between two looks at whether it is this process' turn. */
const turnEveryMs = 200;

/**
 * A PostgreSQL server, through connections that are opened when they are needed, and anew when they broke. Statements
 * within a limit have pools of their own, so that requests and receiving do not wait for each other's connections.
 */
export async function open(url: URL): Promise<Database> {
  const config = await configOf(url);
  const pools: Pool[] = [];
  const endIdle = () => {
    for (const pool of pools) pool.endIdle();
  };
  function openLimited(limits: Limits, options: pg.PoolConfig): Pool {
    const pool = openPool({ ...config, ...options }, limits);
    // What broke one connection may have broken all. Those in use find out in their own time.
    pool.on("release", (error) => {
      if (error && !(error instanceof pg.DatabaseError)) endIdle();
    });
    pools.push(pool);
    return pool;
  }
  const working = openLimited(usualLimits, { max: workingMax });
  const workingAlone = alone(working);
  const database: Database = {
    ...sqlOver(workingAlone, workingAlone, usualLimits, rejection),
    within(limitMs) {
      const limits = { ...usualLimits, statementMs: limitMs, lockMs: limitMs };
      const inTime = { connectionTimeoutMillis: limitMs };
      const exclusive = alone(openLimited(limits, inTime));
      const shared = pipelined(openLimited(limits, { ...inTime, max: linesMax }));
      const rejectionInTime = (error: unknown) =>
        isOutOfTime(error) ? new StatementTimeout(limitMs) : rejection(error);
      return givenUpAfter(limitMs, sqlOver(shared, exclusive, limits, rejectionInTime));
    },
    async transaction(work, own) {
      const limits = { ...usualLimits, ...own };
      const client = await inTerms(rejection, working.connect());
      const sql = sqlIn(client, limits);
      const text = own || isPooled(client) ? beginning(limits) : beginning();
      try {
        const begun = inTerms(rejection, client.query(text));
        const [, result] = await Promise.all([begun, work(sql)]);
        await sql.run("commit");
        client.release();
        return result;
      } catch (error) {
        // The server rolls back when the connection ends. One that broke can do nothing else, and one whose kept plans are
        // of another time is of no use any more.
        if (error instanceof DatabaseUnavailable) client.release(error.cause as Error);
        else {
          await client.query("rollback").then(() => client.release(), client.release);
        }
        throw error;
      }
    },
    exclusively: (work) => inTurn(database, work),
    async runOutside(statement) {
      const pool = openPool({ ...config, max: 1 }, withoutLimits);
      try {
        await inTerms(rejection, pool.query(statement));
      } finally {
        await pool.end();
      }
    },
    async check() {
      const look = answeredWithin(checkMaxMs, { text: "select 1" });
      await inTerms(
        rejection,
        workingAlone((client) => client.query(look)),
      );
    },
    connections: () => ({ unlimited: usageOf([working]), limited: usageOf(pools.slice(1)) }),
    async [Symbol.asyncDispose]() {
      endIdle();
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };
  return database;
}

/** The turn is a lock of a transaction, since a pooler of transactions would lose one of a session. */
async function inTurn<Result>(database: Database, work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    const done = await database.transaction(async (sql) => {
      // It is tried, not waited for: who waits in the server holds a snapshot meanwhile.
      const [turn] = await sql.query<{ is_ours: boolean }>(
        "select pg_try_advisory_xact_lock(hashtext('migration'), 0) as is_ours",
      );
      // A statement with values holds its snapshot until the next one, and a script does not.
      await sql.run("select 1");
      return turn?.is_ours && { result: await work() };
    }, withoutLimits);
    if (done) return done.result;
    await sleep(turnEveryMs);
  }
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

/** A pool that can end the connections that nobody uses. */
class Pool extends pg.Pool {
  readonly #idle = new Set<pg.PoolClient>();

  constructor(config: pg.PoolConfig) {
    super(config);
    this.on("release", (_error, client) => this.#idle.add(client));
    this.on("acquire", (client) => this.#idle.delete(client));
    this.on("remove", (client) => this.#idle.delete(client));
  }

  /** Without waiting for the server, which may never say a word again. */
  endIdle(): void {
    for (const client of this.#idle) client.connection.stream.destroy(new Error("not trusted any more"));
  }
}

function openPool(config: pg.PoolConfig, limits: Limits): Pool {
  const pool = new Pool({
    ...config,
    ...pipelineOptions,
    application_name: "payment-ledger",
    query_timeout: timeToAnswer(limits),
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    idleTimeoutMillis: idleMs,
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
    async onConnect(client) {
      // A connection that breaks says so to whoever uses it next; without a listener it would end the process.
      client.on("error", () => {});
      await prepare(client as pg.Client, limits, config.connectionTimeoutMillis);
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

type Plan = Parameters<Sql["query"]>[2];
type Rejection = (error: unknown) => unknown;

/** The same, but it rejects in the port's own terms. */
const inTerms = <Result>(rejection: Rejection, work: Promise<Result>): Promise<Result> =>
  work.catch((error) => {
    throw rejection(error);
  });

/** Statements each of which is a transaction of its own, those whose plan is kept by another way than the others. */
const sqlOver = (kept: Use, once: Use, limits: Limits, rejection: Rejection): Sql => ({
  query<Row>(text: string, values: unknown[] = [], plan: Plan = "kept") {
    const askOnce = () => once((client) => askAlone(client, { text, values }, limits));
    const asking =
      plan === "once"
        ? askOnce()
        : kept((client) => askAlone(client, { text, values, ...nameIn(client, text) }, limits)).catch(
            (error) => {
              if (hasNoPlan(error)) return askOnce();
              throw error;
            },
          );
    return inTerms(
      rejection,
      asking.then(({ rows }) => rows as Row[]),
    );
  },
  async run(script) {
    await inTerms(
      rejection,
      once((client) => client.query(script)),
    );
  },
});

/** Where the session has not our limits, the statement is sent together with what sets them. */
async function askAlone(
  client: pg.PoolClient,
  statement: pg.QueryConfig,
  limits: Limits,
): Promise<pg.QueryResult> {
  if (!isPooled(client)) return client.query(statement);
  const [, result] = await Promise.all([
    client.query(beginning(limits)),
    client.query(statement),
    client.query("commit"),
  ]);
  return result;
}

/** Statements of one transaction, which has these limits. */
function sqlIn(client: pg.PoolClient, limits: Limits): Sql {
  const ask = (statement: pg.QueryConfig) =>
    inTerms(rejection, client.query(answeredWithin(timeToAnswer(limits), statement)));
  return {
    async query<Row>(text: string, values: unknown[] = [], plan: Plan = "kept") {
      const { rows } = await ask({ text, values, ...(plan === "kept" && nameIn(client, text)) });
      return rows as Row[];
    },
    async run(script) {
      await ask({ text: script });
    },
  };
}

const timeToAnswer = ({ statementMs }: Limits) => statementMs + answerGraceMs;

/**
 * What the server says of a statement stays as it is, unless it is of the moment. What anyone else says is that there is
 * no connection.
 */
function rejection(error: unknown): unknown {
  if (error instanceof TypeError) return error;
  const isAnswer = error instanceof pg.DatabaseError;
  return !isAnswer || isOfTheMoment(error.code) || isFileFault(error)
    ? new DatabaseUnavailable(error)
    : error;
}

/**
 * The columns of a table have changed since the plan was made; or the statement that was sent ahead to be prepared
 * failed.
 */
const hasNoPlan = (error: unknown) =>
  error instanceof pg.DatabaseError && (error.code === "0A000" || error.code === "26000");

const queryCanceled = "57014";
const lockNotAvailable = "55P03";

/** What the pool says when within the limit no connection became free, or none could be made. */
const noConnection = [
  "timeout exceeded when trying to connect",
  "Connection terminated due to connection timeout",
];

/** The server ended the statement, or its waiting for a lock, or it had no connection in time. */
const isOutOfTime = (error: unknown): boolean =>
  error instanceof pg.DatabaseError
    ? error.code === queryCanceled || error.code === lockNotAvailable
    : noConnection.includes((error as Error).message);

function usageOf(pools: pg.Pool[]): Connections {
  const sum = (count: (pool: pg.Pool) => number) => pools.reduce((total, pool) => total + count(pool), 0);
  return {
    busy: sum(({ totalCount, idleCount }) => totalCount - idleCount),
    idle: sum(({ idleCount }) => idleCount),
    waiting: sum(({ waitingCount }) => waitingCount),
  };
}
