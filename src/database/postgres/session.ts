import { createHash } from "node:crypto";
import pg from "pg";
import { DatabaseUnavailable, type Limits, limitMaxMs } from "../database.ts";

/** The limits of work without its own. */
export const defaultLimits: Limits = { statementMs: 10_000, lockMs: 8000, idleMs: 5000 };

/** The limits of work that may take any time. */
export const withoutLimits: Limits = { statementMs: limitMaxMs, lockMs: limitMaxMs, idleMs: limitMaxMs };

/**
 * Settings with which the server ends an idle session and one whose client has vanished. While the client reads nothing of
 * a response, only `tcp_user_timeout` applies.
 */
const settingsOf = ({ statementMs, lockMs, idleMs }: Limits) =>
  Object.entries({
    statement_timeout: `${statementMs}ms`,
    lock_timeout: `${lockMs}ms`,
    idle_in_transaction_session_timeout: `${idleMs}ms`,
    tcp_user_timeout: "10s",
    tcp_keepalives_idle: "10s",
    tcp_keepalives_interval: "2s",
    tcp_keepalives_count: "5",
    // Compilation takes longer than most statements.
    jit: "off",
    // The server, the database and the role can have another default.
    default_transaction_isolation: "read committed",
  });

/** The server ends a statement at its limit. After this grace period the connection is closed. */
const responseGraceMs = 500;

/** The limit for the response to a statement, in milliseconds. */
export const responseMaxMs = ({ statementMs }: Limits) => statementMs + responseGraceMs;

/**
 * Sends a statement, or a script if it has no values. If there is no response within `maxMs` milliseconds, the connection is
 * closed and all its statements reject.
 */
export function send(
  client: pg.Client | pg.PoolClient,
  { text, values, name }: pg.QueryConfig,
  maxMs: number,
): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    // The `query_timeout` of the client keeps the rows after the response: the garbage collector copied all of them twice.
    const timer = setTimeout(() => {
      client.connection.stream.destroy(new Error(`no response within ${maxMs} ms`));
    }, maxMs);
    const callback = (error: Error | null, result: pg.QueryResult) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(result);
    };
    // The client would clone the statement, property by property, in 3 µs.
    client.query(Object.assign(new pg.Query(text, values), { name, callback }));
  });
}

/** A script that begins a transaction with these limits. Default: those of the session. */
export const beginWith = (limits?: Limits, begin = "begin isolation level read committed"): string =>
  [
    begin,
    ...(limits ? settingsOf(limits).map(([name, value]) => `set local ${name} = '${value}'`) : []),
  ].join("; ");

/**
 * Clients of a pooler such as PgBouncer, whose sessions can serve other clients between two transactions: settings and
 * prepared statements in a session are then shared with other processes.
 */
const pooled = new WeakSet<pg.Client>();
/** Pooled clients whose pooler separates the prepared statements of its clients. */
const separated = new WeakSet<pg.Client>();

export const isPooled = (client: pg.Client): boolean => pooled.has(client);

/** Clients whose server has ended a wait for its synchronous standby. */
const unreplicated = new WeakSet<pg.Client>();

/** Watches for the warning with which PostgreSQL confirms a commit that no synchronous standby has confirmed. */
export function watchReplication(client: pg.Client): void {
  client.on("notice", ({ routine }) => {
    if (routine === "SyncRepWaitForLSN") unreplicated.add(client);
  });
}

/**
 * To be called after a commit. Throws `DatabaseUnavailable` if the server did not wait for its synchronous standby until the
 * end, because somebody cancelled the commit: a failover can lose it. Limits of statements do not end this wait.
 */
export function requireReplication(client: pg.Client): void {
  if (unreplicated.has(client)) {
    throw new DatabaseUnavailable(new Error("the synchronous standby did not confirm the commit"));
  }
}

/** Prepares a new connection. */
export async function prepare(client: pg.Client, limits: Limits, maxMs: number): Promise<void> {
  const { processID } = client as pg.Client & { processID: number | null };
  const settings = settingsOf(limits).map(([name, value]) => `('${name}', '${value}')`);
  // The server, the database and the role can have another time zone and date style, on which the text of a time depends.
  // Poolers keep both for each client. If the process id of the session is that of this connection, there is no pooler:
  // a pooler assigns its own ids.
  const text = `
    set time zone 'UTC'; set datestyle = 'ISO';
    select set_config(name, value, false) from (values ${settings.join()}) as setting (name, value)
    where pg_backend_pid() = ${processID}`;
  const results = (await send(client, { text }, maxMs)) as unknown as pg.QueryResult[];
  if (results.at(-1)?.rowCount) return;
  pooled.add(client);
  // A pooler that pools statements reports an error for a single `begin`; within a pipeline it closes the connection.
  for (const text of ["begin", "commit"]) await send(client, { text }, maxMs);
  if (await separatesStatements(client, maxMs)) separated.add(client);
}

/** A pooler that separates statements renames them: then this statement does not find itself by its name. */
async function separatesStatements(client: pg.Client, maxMs: number): Promise<boolean> {
  const text = "select from pg_prepared_statements where name = $1";
  const name = digestOf(text);
  try {
    return (await send(client, { text, name, values: [name] }, maxMs)).rowCount === 0;
  } catch (error) {
    // Another process has prepared it in the same session.
    if (error instanceof pg.DatabaseError) return false;
    throw error;
  }
}

const digests = new Map<string, string>();

/** A name that is unique to the text of a statement, in any process and version. */
function digestOf(text: string): string {
  const known = digests.get(text);
  if (known !== undefined) return known;
  const digest = createHash("sha256").update(text).digest("base64url");
  digests.set(text, digest);
  return digest;
}

/** The name of a prepared statement; none if the session may be shared. */
export const nameIn = (client: pg.Client, text: string): { name?: string } =>
  isPooled(client) && !separated.has(client) ? {} : { name: digestOf(text) };
