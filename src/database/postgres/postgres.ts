import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Address } from "../../engines/adapter.ts";
import { hostOf } from "../../engines/url.ts";
import { parseExactly } from "../../values/exact-json.ts";
import { withTimeout } from "../../waiting/with-timeout.ts";
import {
  type Connections,
  type Database,
  DatabaseUnavailable,
  isFileError,
  isTransient,
  type Limits,
  type Plan,
  type Sql,
  StatementTimeout,
  withStatementTimeout,
} from "../database.ts";
import { readTimestamp } from "../timestamp.ts";
import { BoundClient } from "./channel-binding.ts";
import { type Host, openHosts, type Role, readOnlyQuery } from "./hosts.ts";
import type { PostgresParameters } from "./parameters.ts";
import { exclusive, pipelined, pipelineOptions, pipelinesMax, readInTurns, type Use } from "./pipeline.ts";
import {
  beginWith,
  defaultLimits,
  isPooled,
  nameIn,
  prepare,
  requireReplication,
  watchReplication,
  withoutLimits,
  withResponseLimit,
} from "./session.ts";

const idleMs = 60_000;
/** Maximum connections for work outside `within`. The batches in flight keep them few. */
const receiverMax = 1000;
/** Idle time before the operating system probes a connection. */
const keepAliveMs = 10_000;
/** Limit for a check. */
const checkMaxMs = 2000;
/** Limit for a check of several hosts, since a failover is to be noticed within a second. */
const failoverCheckMaxMs = 500;
/** The server ends a statement at its limit. After this grace period the connection is closed. */
const responseGraceMs = 500;
/** Interval of attempts to get the lock for exclusive work. */
const lockAttemptMs = 200;

/** A PostgreSQL server, or the primary of several. `application` is the name of its sessions. */
export const open = (
  address: Address<PostgresParameters>,
  application = "payment-ledger",
): Promise<Database> => openAs("primary", address, application);

/** A PostgreSQL server to read from: of several a replica, or the primary if no replica responds. */
export const openReplica = (address: Address<PostgresParameters>): Promise<Database> =>
  openAs("replica", address, "payment-ledger");

/**
 * Connections are opened on demand, and again when they broke. Statements of `within` have their own pools, so that requests
 * and receivers do not wait for each other's connections.
 */
async function openAs(
  role: Role,
  { url, others, parameters, warn }: Address<PostgresParameters>,
  application: string,
): Promise<Database> {
  if (parameters.host && others.length > 0) throw new Error("the parameter host is for a URL with one host");
  const ofHost: pg.PoolConfig = { application_name: application, ...(await configOf(url, parameters)) };
  const hosts = others.length > 0 ? openHosts([url, ...others].map(hostIn), role, ofHost, warn) : undefined;
  const config = { ...ofHost, ...(hosts && { Client: hosts.Client }) };
  const pools: Pool[] = [];
  const endIdle = () => {
    for (const pool of pools) pool.endIdle();
  };
  function openLimited(limits: Limits, options: pg.PoolConfig): Pool {
    const pool = openPool({ ...config, ...options }, limits);
    // The cause may have broken all connections. Those in use detect it themselves.
    pool.on("release", (error, client) => {
      if (error && !(error instanceof pg.DatabaseError)) endIdle();
      if (hosts?.isFormer(client)) void client.end();
    });
    pools.push(pool);
    return pool;
  }
  /** No work begins on a connection to a host that may no longer be the primary. */
  const afterLook =
    (use: Use): Use =>
    (work) => {
      const looking = hosts?.whenLookedAt();
      return looking ? looking.then(() => use(work)) : use(work);
    };
  const receiver = openLimited(defaultLimits, { max: receiverMax });
  const exclusiveReceiver = afterLook(exclusive(receiver));
  const database: Database = {
    ...sqlOver(exclusiveReceiver, exclusiveReceiver, defaultLimits, mapError),
    within(limitMs) {
      const limits = { ...defaultLimits, statementMs: limitMs, lockMs: limitMs };
      const options = { connectionTimeoutMillis: limitMs };
      const custom = afterLook(exclusive(openLimited(limits, options)));
      const prepared = afterLook(pipelined(openLimited(limits, { ...options, max: pipelinesMax })));
      const mapTimeout = (error: unknown) =>
        isTimeout(error) ? new StatementTimeout(limitMs) : mapError(error);
      return withStatementTimeout(limitMs, sqlOver(prepared, custom, limits, mapTimeout));
    },
    async transaction(work, own) {
      const limits = { ...defaultLimits, ...own };
      await hosts?.whenLookedAt();
      const client = await mapping(mapError, receiver.connect());
      const sql = sqlIn(client, limits);
      const begin = own || isPooled(client) ? beginWith(limits) : beginWith();
      try {
        const begun = mapping(mapError, client.query(begin));
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
          await client.query("rollback").then(() => client.release(), client.release);
        }
        throw error;
      }
    },
    exclusively: (name, work) => withLock(database, name, work),
    async runOutside(statement) {
      const pool = openPool({ ...config, max: 1 }, withoutLimits);
      try {
        await mapping(mapError, pool.query(statement));
      } finally {
        await pool.end();
      }
    },
    async check(maxMs = checkMaxMs) {
      const probe = withResponseLimit(checkMaxMs, { text: readOnlyQuery });
      const work = exclusiveReceiver(async (client) => {
        const response = await client.query(probe);
        hosts?.verify(client, response);
      });
      const limited = hosts ? withTimeout(work, maxMs, new Error(`no response within ${maxMs} ms`)) : work;
      await mapping(mapError, limited);
    },
    ...(hosts && { failoverCheckMaxMs }),
    requestConnections: parameters.pool,
    connections: () => ({ receiver: usageOf([receiver]), requests: usageOf(pools.slice(1)) }),
    async [Symbol.asyncDispose]() {
      hosts?.[Symbol.dispose]();
      endIdle();
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };
  return database;
}

/** The lock is that of a transaction, since a pooler that shares sessions would lose a session lock. */
async function withLock<Result>(
  database: Database,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
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

async function configOf(url: URL, parameters: PostgresParameters): Promise<pg.PoolConfig> {
  const part = (text: string) => decodeURIComponent(text) || undefined;
  return {
    host: parameters.host ?? part(hostOf(url)),
    port: url.port === "" ? undefined : Number(url.port),
    user: part(url.username),
    password: part(url.password),
    database: part(url.pathname.slice(1)),
    // A socket of this machine has no TLS.
    ssl: parameters.host === undefined && (await tlsOf(parameters)),
    enableChannelBinding: parameters.channel_binding !== "disable",
    ...(parameters.channel_binding === "require" && { Client: BoundClient }),
    ...(parameters.application_name && { application_name: parameters.application_name }),
    max: parameters.pool,
    connectionTimeoutMillis: parameters.connect_timeout * 1000,
  };
}

const hostIn = (url: URL): Host => ({
  host: decodeURIComponent(hostOf(url)),
  port: Number(url.port) || 5432,
});

/**
 * The modes of libpq: `require` encrypts without verification, `verify-ca` verifies who issued the certificate, and
 * `verify-full` also the host in it. With an authority `require` is `verify-ca`.
 */
async function tlsOf(parameters: PostgresParameters): Promise<pg.PoolConfig["ssl"]> {
  const { sslmode, sslrootcert } = parameters;
  if (sslmode === "disable") {
    if (sslrootcert !== undefined) throw new Error("sslrootcert requires another sslmode than disable");
    if (parameters.channel_binding === "require")
      throw new Error("channel_binding=require requires another sslmode than disable");
    return false;
  }
  const isSystem = sslrootcert === undefined || sslrootcert === "system";
  if (sslmode === "verify-full") return isSystem ? {} : { ca: await readAuthority(sslrootcert) };
  // Anyone can get a certificate of a public authority for another host.
  if (sslrootcert === "system") throw new Error("sslrootcert=system requires sslmode=verify-full");
  if (sslrootcert !== undefined) {
    return { ca: await readAuthority(sslrootcert), checkServerIdentity: () => undefined };
  }
  if (sslmode === "verify-ca") throw new Error("sslmode=verify-ca requires sslrootcert");
  return { rejectUnauthorized: false };
}

async function readAuthority(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new Error(`sslrootcert ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** A pool that can close its idle connections. */
class Pool extends pg.Pool {
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

function openPool(config: pg.PoolConfig, limits: Limits): Pool {
  const pool = new Pool({
    ...config,
    ...pipelineOptions,
    query_timeout: responseMaxMs(limits),
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
      await prepare(client, limits, config.connectionTimeoutMillis);
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
      await mapping(
        map,
        custom((client) => client.query(script)),
      );
    },
  };
  return sql;
};

const queryAlone = (
  client: pg.PoolClient,
  statement: pg.QueryConfig,
  limits: Limits,
): Promise<pg.QueryResult> =>
  isPooled(client) ? queryLimited(client, statement, limits) : send(client, statement);

/** The client would clone the statement, property by property, in 3 µs. */
const send = (client: pg.PoolClient, { text, values, name }: pg.QueryConfig): Promise<pg.QueryResult> =>
  new Promise((resolve, reject) => {
    const callback = (error: Error | null, result: pg.QueryResult) =>
      error ? reject(error) : resolve(result);
    client.query(Object.assign(new pg.Query(text, values), { name, callback }));
  });

/** Behind a pooler that shares sessions, the statement is sent with its limits in one transaction. */
async function queryLimited(
  client: pg.PoolClient,
  statement: pg.QueryConfig,
  limits: Limits,
): Promise<pg.QueryResult> {
  const [, result] = await Promise.all([
    client.query(beginWith(limits)),
    client.query(statement),
    client.query("commit"),
  ]);
  return result;
}

/**
 * The statements of one transaction with these limits. Once one has failed, the later ones reject with its error: theirs, that
 * the transaction is aborted, says nothing of the cause and can be noticed first.
 */
function sqlIn(client: pg.PoolClient, limits: Limits): Sql {
  let failure: unknown;
  const send = (statement: pg.QueryConfig) =>
    client.query(withResponseLimit(responseMaxMs(limits), statement)).catch((error) => {
      failure ??= mapError(error);
      throw failure;
    });
  return {
    async query<Row>(text: string, values: unknown[] = [], plan: Plan = "prepared") {
      const { rows } = await send({ text, values, ...(plan !== "custom" && nameIn(client, text)) });
      return rows as Row[];
    },
    async run(script) {
      await send({ text: script });
    },
  };
}

const responseMaxMs = ({ statementMs }: Limits) => statementMs + responseGraceMs;

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

function usageOf(pools: pg.Pool[]): Connections {
  const sum = (count: (pool: pg.Pool) => number) => pools.reduce((total, pool) => total + count(pool), 0);
  return {
    busy: sum(({ totalCount, idleCount }) => totalCount - idleCount),
    idle: sum(({ idleCount }) => idleCount),
    waiting: sum(({ waitingCount }) => waitingCount),
  };
}
