import { messageOf } from "../process/describe-error.ts";
import { withTimeout } from "../waiting/with-timeout.ts";

/**
 * Runs SQL. Values are `$1`, `$2` …. In rows, a `bigint` column is a bigint, `timestamptz` is text in UTC with six fraction
 * digits and `Z`, and `json` and `jsonb` are the value with exact numbers (`exact-json.ts`). Rejects with
 * `DatabaseUnavailable` if the error is transient.
 */
export interface Sql {
  /**
   * A `prepared` statement (the default) has a constant text. The engine may keep its plan and may send it on a shared
   * connection behind others, so it must be quick. A `repeated` statement has one of few texts: its plan may be kept, and it
   * gets a connection of its own. A `custom` statement is composed for its values: it also gets a connection of its own, and
   * a custom plan, not a generic one. The statements of a transaction run in the order of the calls and need not wait for
   * each other.
   */
  query<Row>(text: string, values?: unknown[], plan?: Plan): Promise<Row[]>;
  /** Runs several statements without values. */
  run(script: string): Promise<void>;
}

/** Statements with a limit. */
export interface LimitedSql extends Sql {
  /**
   * Runs statements that all see the same state of the database, and cannot change it. The work as a whole has the limit: at
   * the limit it rejects with `StatementTimeout`, and so do its further statements.
   */
  snapshot<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
}

/** Begins the transaction of a snapshot. */
export const beginSnapshot = "begin isolation level repeatable read, read only";

/** How a statement is planned and sent; see `Sql`. */
export type Plan = "prepared" | "repeated" | "custom";

export interface Database extends Sql, AsyncDisposable {
  /**
   * Commits all of the work, or none if it rejects. At a limit, of the engine or of `limits`, it rejects with
   * `DatabaseUnavailable` and releases its locks. The embedded engine has no limits.
   */
  transaction<Result>(work: (sql: Sql) => Promise<Result>, limits?: Partial<Limits>): Promise<Result>;
  /**
   * Runs statements with a limit in milliseconds, which includes the wait for a connection. At the limit a statement rejects
   * with `StatementTimeout`. It waits for other limited statements, but not for transactions if the engine has more than
   * one connection.
   */
  within(limitMs: number): LimitedSql;
  /**
   * Runs work of this name, which one process does at a time. Other processes wait without a limit. It holds no snapshot meanwhile, since
   * `runOutside` would wait for its end. Rejects if the work rejects or if the connection with the lock breaks.
   */
  exclusively<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  /**
   * Runs one statement outside any transaction and without limits, as `create index concurrently` requires. Behind a pooler
   * that shares sessions, the limits of the role and the database apply.
   */
  runOutside(statement: string): Promise<void>;
  /** Rejects if the database does not respond within this time in milliseconds. Default: about 2000. */
  check(maxMs?: number): Promise<void>;
  /** The time for the check of a health check, if another database takes the place of one that is lost. */
  readonly failoverCheckMaxMs?: number;
  /** Number of `repeated` and `custom` statements of `within` that run at the same time, or share one engine. */
  readonly requestConnections: number;
  /** The use of its connections by pool. The embedded engine has none. */
  connections(): Record<string, Connections>;
  /**
   * Opens the signals of this name between the processes of the database. `hear` is called for those of other processes, and
   * when this one may have missed some. Undefined if the database has one process.
   */
  signals?(name: string, hear: () => void): Signals;
}

/** Signals between processes. Nothing may depend on them: they can be lost, and late. */
export interface Signals extends AsyncDisposable {
  /** Sends a signal soon. Several calls may send one. */
  send(): void;
}

/** About the longest limit of PostgreSQL: 24 days, in milliseconds. */
export const limitMaxMs = 2_147_483_000;

/** The limits of a transaction in milliseconds, from 1 to `limitMaxMs`. */
export interface Limits {
  /** For each statement, including waits for locks. Default: 10,000. */
  statementMs: number;
  /** For each wait for a lock. Default: 8000. */
  lockMs: number;
  /** For the time between two statements. Default: 5000. */
  idleMs: number;
}

export interface Connections {
  busy: number;
  idle: number;
  /** Number of requests for a connection that wait. */
  waiting: number;
}

/** A transient error: the database cannot be reached or cannot do the work now. */
export class DatabaseUnavailable extends Error {
  constructor(cause: unknown) {
    super(`the database is unavailable: ${messageOf(cause)}`, { cause });
  }
}

export class StatementTimeout extends Error {
  readonly limitMs: number;

  constructor(limitMs: number) {
    super(`a statement took longer than ${limitMs} ms`);
    this.limitMs = limitMs;
  }
}

/** Rejects with `StatementTimeout` if a statement or a snapshot takes longer than the limit in milliseconds. */
export function withStatementTimeout(limitMs: number, sql: LimitedSql): LimitedSql {
  const timeout = new StatementTimeout(limitMs);
  return {
    query: (...statement) => withTimeout(sql.query(...statement), limitMs, timeout),
    run: (script) => withTimeout(sql.run(script), limitMs, timeout),
    snapshot(work) {
      const latest = performance.now() + limitMs;
      const beforeLimit = async <Result>(send: () => Promise<Result>) => {
        if (performance.now() > latest) throw timeout;
        return send();
      };
      const limited = sql.snapshot((inner) =>
        work({
          query: (...statement) => beforeLimit(() => inner.query(...statement)),
          run: (script) => beforeLimit(() => inner.run(script)),
        }),
      );
      return withTimeout(limited, limitMs, timeout);
    },
  };
}

/**
 * True for an SQLSTATE of a transient error, after which a retry may succeed: classes 08 (connection), 28 and 3D (no access), 40
 * (transaction rollback), 53 (insufficient resources), 57P (starting, stopping), 58 (system error, such as a disk), 25006
 * (read-only after a failover), 0A000 (a prepared plan is older than a migration), and limits: 55P03 (lock), 57014
 * (statement), 25P03 (idle).
 */
export const isTransient = (code: string | undefined): boolean =>
  /^(08|28|3D|40|53|57P|58|25006|0A000|55P03|57014|25P03)/.test(code ?? "");

/**
 * True if a file could not be written for a reason without an SQLSTATE, such as a quota or a limit of the file size.
 * PostgreSQL reports these as internal errors, XX000, from the source files that write files.
 */
export const isFileError = (error: unknown): boolean => {
  const { code, file } = error as { code?: string; file?: string };
  return code === "XX000" && /^(buffile|dsm_impl|fd|logtape|md|slru|xlog)\.c$/.test(file ?? "");
};

/**
 * True if the error is permanent, since the data is the cause: SQLSTATE classes 22 (data exception), 23 (constraint
 * violation) and 54 (limit exceeded).
 */
export const isPermanent = (error: unknown): boolean =>
  /^(22|23|54)...$/.test((error as { code?: string } | null)?.code ?? "");

/**
 * True if the database can store every text in a JSON value. It cannot store NUL and unpaired surrogates. `JSON.stringify`
 * writes these as escapes, which an even number of backslashes precedes.
 */
export const isStorable = (value: unknown): boolean =>
  !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f]..)/.test(JSON.stringify(value));
