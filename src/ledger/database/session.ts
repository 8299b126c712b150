import { createHash } from "node:crypto";
import pg from "pg";
import { type Limits, limitMaxMs } from "./database.ts";

/** Of work that asks for no limits of its own. */
export const usualLimits: Limits = { statementMs: 10_000, lockMs: 8000, idleMs: 5000 };

/** Of work that may take as long as it takes. */
export const withoutLimits: Limits = { statementMs: limitMaxMs, lockMs: limitMaxMs, idleMs: limitMaxMs };

/**
 * By the limits the server ends a session that does nothing, or whose other side has vanished. While it waits for a
 * process that takes nothing of an answer it looks at no limit but `tcp_user_timeout`.
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
    // Compiling takes longer than most statements.
    jit: "off",
  });

/** A statement whose connection is ended when it has no answer within so many milliseconds; of its pool unless given. */
export const answeredWithin = (
  query_timeout: number | undefined,
  statement: pg.QueryConfig,
): pg.QueryConfig => Object.assign({ query_timeout }, statement);

/** Begins a transaction with these limits, which end with it; without any, with those of the session. */
export const beginning = (limits?: Limits): string =>
  [
    "begin isolation level read committed",
    ...(limits ? settingsOf(limits).map(([name, value]) => `set local ${name} = '${value}'`) : []),
  ].join("; ");

/**
 * Behind a pooler of connections, PgBouncer say, whose sessions may serve others between two transactions: what is set
 * or prepared there may meet another process, and what another has prepared may meet us.
 */
const pooled = new WeakSet<pg.Client>();
/** Those of them whose statements the pooler keeps apart. */
const keptApart = new WeakSet<pg.Client>();

export const isPooled = (client: pg.Client): boolean => pooled.has(client);

/** Makes a connection ready that was just opened. */
export async function prepare(client: pg.Client, limits: Limits, maxMs: number | undefined): Promise<void> {
  const { processID } = client as pg.Client & { processID: number | null };
  const settings = settingsOf(limits).map(([name, value]) => `('${name}', '${value}')`);
  // A server, a database and a role may have another time zone and date style, which poolers keep for their clients; what
  // is read of a time depends on both. The session is ours when it has the number that the server gave to this
  // connection: a pooler gives numbers of its own.
  const text = `
    set time zone 'UTC'; set datestyle = 'ISO';
    select set_config(name, value, false) from (values ${settings.join()}) as setting (name, value)
    where pg_backend_pid() = ${processID}`;
  const results = (await client.query(answeredWithin(maxMs, { text }))) as unknown as pg.QueryResult[];
  if (results.at(-1)?.rowCount) return;
  pooled.add(client);
  // A pooler that has no transactions says so to a statement that is sent alone, and only ends the connection otherwise.
  for (const text of ["begin", "commit"]) await client.query(answeredWithin(maxMs, { text }));
  if (await keepsApart(client, maxMs)) keptApart.add(client);
}

/** A pooler that keeps statements apart gives them names of its own: then this one does not find itself. */
async function keepsApart(client: pg.Client, maxMs: number | undefined): Promise<boolean> {
  const text = "select from pg_prepared_statements where name = $1";
  const name = digestOf(text);
  try {
    return (await client.query(answeredWithin(maxMs, { text, name, values: [name] }))).rowCount === 0;
  } catch (error) {
    // Another process has prepared it in this session.
    if (error instanceof pg.DatabaseError) return false;
    throw error;
  }
}

const digests = new Map<string, string>();

/** A name that no other statement has in any process, of this version or another. */
function digestOf(text: string): string {
  const digest = digests.get(text) ?? createHash("sha256").update(text).digest("base64url");
  digests.set(text, digest);
  return digest;
}

/** The name under which a statement is kept in a session; none where others might meet it. */
export const nameIn = (client: pg.Client, text: string): { name?: string } =>
  isPooled(client) && !keptApart.has(client) ? {} : { name: digestOf(text) };
