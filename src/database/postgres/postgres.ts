import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Address } from "../../engines/adapter.ts";
import { withTimeout } from "../../waiting/with-timeout.ts";
import {
  beginSnapshot,
  type Database,
  DatabaseUnavailable,
  isFileError,
  isTransient,
  type LimitedSql,
  type Limits,
  type Plan,
  type Sql,
  StatementTimeout,
  withStatementTimeout,
} from "../database.ts";
import { configOf, hostIn } from "./config.ts";
import { readOnlyQuery } from "./host.ts";
import { type Hosts, openHosts, type Role } from "./hosts.ts";
import type { PostgresParameters } from "./parameters.ts";
import { exclusive, pipelined, pipelinesMax, type Use } from "./pipeline.ts";
import { openPool, type Pool, usageOf } from "./pool.ts";
import {
  beginWith,
  defaultLimits,
  isPooled,
  nameIn,
  requireReplication,
  responseMaxMs,
  send,
  withoutLimits,
} from "./session.ts";
import { openSignals } from "./signals.ts";

/** Maximum connections for work outside `within`. The batches in flight keep them few. */
const receiverMax = 1000;
/** Limit for a check. */
const checkMaxMs = 2000;
/** Limit for a check of several hosts, since a failover is to be noticed within a second. */
const failoverCheckMaxMs = 500;
/** Interval of attempts to get the lock for exclusive work. */
const lockAttemptMs = 200;

/** A PostgreSQL server, or the primary of several. `application` is the name of its sessions. */
export const open = (address: Address<PostgresParameters>, application?: string) =>
  openAs("primary", address, application);

/** A PostgreSQL server to read from: of several a replica, or the primary if no replica responds. */
export const openReplica = (address: Address<PostgresParameters>) => openAs("replica", address);

/** A server, or several of which one is used at a time. */
interface Server {
  readonly config: pg.PoolConfig;
  /** Undefined if the URL has one host. */
  readonly hosts: Hosts | undefined;
  readonly pools: Pool[];
}

/**
 * Connections are opened on demand, and again when they broke. Statements of `within` have their own pools, so that requests
 * and receivers do not wait for each other's connections.
 */
async function openAs(
  role: Role,
  { url, others, parameters, warn }: Address<PostgresParameters>,
  application = "payment-ledger",
): Promise<Database> {
  if (parameters.host && others.length > 0) throw new Error("the parameter host is for a URL with one host");
  const ofHost: pg.PoolConfig = { application_name: application, ...(await configOf(url, parameters)) };
  const hosts = others.length > 0 ? openHosts([url, ...others].map(hostIn), role, ofHost, warn) : undefined;
  const server: Server = { config: { ...ofHost, ...(hosts && { Client: hosts.Client }) }, hosts, pools: [] };
  const receiver = openLimited(server, defaultLimits, { max: receiverMax });
  const useReceiver = afterLook(hosts, exclusive(receiver));
  const database: Database = {
    ...sqlOver(useReceiver, useReceiver, defaultLimits, mapError),
    within: (limitMs) => sqlWithin(server, limitMs),
    transaction: (work, own) => transact(server, receiver, work, { own }),
    exclusively: (name, work) => withLock(database, name, work),
    async runOutside(statement) {
      const pool = openPool({ ...server.config, max: 1 }, withoutLimits);
      await mapping(mapError, pool.query(statement)).finally(() => pool.end());
    },
    async check(maxMs = checkMaxMs) {
      const work = useReceiver(async (client) => {
        const response = await send(client, { text: readOnlyQuery }, checkMaxMs);
        hosts?.verify(client, response);
      });
      const limited = hosts ? withTimeout(work, maxMs, new Error(`no response within ${maxMs} ms`)) : work;
      await mapping(mapError, limited);
    },
    ...(hosts && { failoverCheckMaxMs }),
    requestConnections: parameters.pool,
    connections: () => ({ receiver: usageOf([receiver]), requests: usageOf(server.pools.slice(1)) }),
    signals: (name, hear) => openSignals(server.config, database, name, hear),
    async [Symbol.asyncDispose]() {
      await hosts?.[Symbol.asyncDispose]();
      endIdle(server);
      await Promise.all(server.pools.map((pool) => pool.end()));
    },
  };
  return database;
}

function openLimited(server: Server, limits: Limits, options: pg.PoolConfig): Pool {
  const pool = openPool({ ...server.config, ...options }, limits);
  pool.on("release", (error, client) => {
    // The cause may have broken all connections. Those in use detect it themselves.
    if (error && !(error instanceof pg.DatabaseError)) endIdle(server);
    if (server.hosts?.isFormer(client)) void client.end();
  });
  server.pools.push(pool);
  return pool;
}

function endIdle({ pools }: Server): void {
  for (const pool of pools) pool.endIdle();
}

/** No work begins on a connection to a host that may no longer be the primary. */
function afterLook(hosts: Hosts | undefined, use: Use): Use {
  if (!hosts) return use;
  return (work) => {
    const looking = hosts.whenLookedAt();
    return looking ? looking.then(() => use(work)) : use(work);
  };
}

function sqlWithin(server: Server, limitMs: number): LimitedSql {
  const limits = { ...defaultLimits, statementMs: limitMs, lockMs: limitMs };
  const options = { connectionTimeoutMillis: limitMs };
  const pool = openLimited(server, limits, options);
  const custom = afterLook(server.hosts, exclusive(pool));
  const pipeline = openLimited(server, limits, { ...options, max: pipelinesMax });
  const prepared = afterLook(server.hosts, pipelined(pipeline));
  const mapTimeout = (error: unknown) => (isTimeout(error) ? new StatementTimeout(limitMs) : mapError(error));
  return withStatementTimeout(limitMs, {
    ...sqlOver(prepared, custom, limits, mapTimeout),
    snapshot: (work) => transact(server, pool, work, { limits, begin: beginSnapshot, map: mapTimeout }),
  });
}

interface TransactionOptions {
  /** Limits that differ from those of the connections of the pool. */
  own?: Partial<Limits> | undefined;
  /** The limits of the connections of the pool. */
  limits?: Limits;
  begin?: string;
  map?: MapError;
}

async function transact<Result>(
  { hosts }: Server,
  pool: Pool,
  work: (sql: Sql) => Promise<Result>,
  { own, limits: ofPool = defaultLimits, begin, map = mapError }: TransactionOptions,
): Promise<Result> {
  const limits = { ...ofPool, ...own };
  await hosts?.whenLookedAt();
  const client = await mapping(map, pool.connect());
  const sql = sqlIn(client, limits, map);
  const text = beginWith(own || isPooled(client) ? limits : undefined, begin);
  try {
    const begun = mapping(map, send(client, { text }, responseMaxMs(limits)));
    const [, result] = await Promise.all([begun, work(sql)]);
    await sql.run("commit");
    requireReplication(client);
    client.release();
    return result;
  } catch (error) {
    // The server rolls back when a connection closes. A broken connection can do nothing else, and one with outdated
    // plans is useless.
    if (error instanceof DatabaseUnavailable) client.release(error.cause as Error);
    else {
      const rollback = send(client, { text: "rollback" }, responseMaxMs(limits));
      await rollback.then(() => client.release(), client.release);
    }
    throw error;
  }
}

/** The lock is that of a transaction, since a pooler that shares sessions would lose a session lock. */
async function withLock<Result>(database: Database, name: string, work: () => Promise<Result>) {
  for (;;) {
    const done = await database.transaction(async (sql) => {
      // An attempt without a wait, since a session that waits in the server holds a snapshot.
      const [lock] = await sql.query<{ is_locked: boolean }>(
        "select pg_try_advisory_xact_lock(hashtext($1), 0) as is_locked",
        [name],
      );
      // A statement with the extended protocol holds its snapshot until the next one; a script does not.
      await sql.run("select 1");
      return lock?.is_locked && { result: await work() };
    }, withoutLimits);
    if (done) return done.result;
    await sleep(lockAttemptMs);
  }
}

type MapError = (error: unknown) => unknown;

/** Maps the error of a rejection. */
const mapping = <Result>(map: MapError, work: Promise<Result>): Promise<Result> =>
  work.catch((error) => {
    throw map(error);
  });

/** Statements with a transaction each; prepared ones use other connections than repeated and custom ones. */
const sqlOver = (prepared: Use, custom: Use, limits: Limits, map: MapError): Sql => {
  const sql: Sql = {
    async query<Row>(text: string, values: unknown[] = [], plan: Plan = "prepared") {
      const isNamed = plan !== "custom";
      const use = plan === "prepared" ? prepared : custom;
      try {
        const { rows } = await use((client) =>
          queryAlone(client, { text, values, ...(isNamed && nameIn(client, text)) }, limits),
        );
        return rows as Row[];
      } catch (error) {
        // The stack leads to the socket; here it leads back to the caller.
        Error.captureStackTrace(error as Error);
        if (isNamed && isPlanError(error)) return sql.query<Row>(text, values, "custom");
        throw map(error);
      }
    },
    async run(script) {
      const running = custom((client) => send(client, { text: script }, responseMaxMs(limits)));
      await mapping(map, running);
    },
  };
  return sql;
};

/** Behind a pooler that shares sessions, the statement is sent with its limits in one transaction. */
function queryAlone(client: pg.PoolClient, statement: pg.QueryConfig, limits: Limits) {
  const maxMs = responseMaxMs(limits);
  if (!isPooled(client)) return send(client, statement, maxMs);
  const sent = [{ text: beginWith(limits) }, statement, { text: "commit" }].map((one) =>
    send(client, one, maxMs),
  );
  return Promise.all(sent).then(([, result]) => result as pg.QueryResult);
}

/**
 * The statements of one transaction with these limits. Once one has failed, the later ones reject with its error: theirs, that
 * the transaction is aborted, says nothing of the cause and can be noticed first.
 */
function sqlIn(client: pg.PoolClient, limits: Limits, map: MapError): Sql {
  let failure: unknown;
  const sendNext = (statement: pg.QueryConfig) =>
    send(client, statement, responseMaxMs(limits)).catch((error) => {
      // The stack leads to the socket; here it leads back to the caller.
      Error.captureStackTrace(error);
      failure ??= map(error);
      throw failure;
    });
  return {
    async query<Row>(text: string, values: unknown[] = [], plan: Plan = "prepared") {
      const { rows } = await sendNext({ text, values, ...(plan !== "custom" && nameIn(client, text)) });
      return rows as Row[];
    },
    async run(script) {
      await sendNext({ text: script });
    },
  };
}

/** Maps transient errors of the server and all errors of the connection to `DatabaseUnavailable`. */
function mapError(error: unknown): unknown {
  if (error instanceof TypeError || error instanceof DatabaseUnavailable) return error;
  const isServerError = error instanceof pg.DatabaseError;
  return !isServerError || isTransient(error.code) || isFileError(error)
    ? new DatabaseUnavailable(error)
    : error;
}

/** The columns of a table have changed since the statement was prepared, or its preparation failed. */
const isPlanError = (error: unknown) =>
  error instanceof pg.DatabaseError && (error.code === "0A000" || error.code === "26000");

const queryCanceled = "57014";
const lockNotAvailable = "55P03";

/** The messages of the pool if no connection became free or could be opened within the limit. */
const noConnection = [
  "timeout exceeded when trying to connect",
  "Connection terminated due to connection timeout",
];

/** True if a statement, its wait for a lock or its wait for a connection reached the limit. */
const isTimeout = (error: unknown): boolean =>
  error instanceof pg.DatabaseError
    ? error.code === queryCanceled || error.code === lockNotAvailable
    : noConnection.includes((error as Error).message);
