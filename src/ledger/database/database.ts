import { type Adapter, type Adapters, isWholeNumber, openAdapter } from "../../process/adapter.ts";
import { messageOf } from "../../process/describe-error.ts";
import { inTime } from "../../process/with-timeout.ts";

/**
 * Runs SQL with values as `$1`, `$2` … and nothing else. Rows come with `bigint` columns as bigint, `timestamptz` as
 * text in UTC with six fraction digits and `Z`, `jsonb` as the value it holds, its numbers exact (`exact-json.ts`). What
 * runs when the database cannot be reached, or cannot do it now, rejects with `DatabaseUnavailable`.
 */
export interface Sql {
  /**
   * A statement whose text is always the same is kept prepared where the engine can, and may be sent on a connection
   * behind others, so it has to be quick; one that is composed for its question is planned once, for just these values,
   * and has a connection for itself. Statements of one transaction run in the order in which they are asked, and
   * need not wait for each other.
   */
  query<Row>(text: string, values?: unknown[], plan?: "kept" | "once"): Promise<Row[]>;
  /** Runs several statements, without values. */
  run(script: string): Promise<void>;
}

export interface Database extends Sql, AsyncDisposable {
  /**
   * All of the work is committed, or, when it rejects, none. What reaches a limit, those of the engine or its own, rejects
   * with `DatabaseUnavailable`, and the transaction holds nothing any more. An engine inside the process has no limits.
   */
  transaction<Result>(work: (sql: Sql) => Promise<Result>, limits?: Partial<Limits>): Promise<Result>;
  /**
   * The same, but every statement is given up on after so many milliseconds, the waiting for its turn included:
   * it rejects with `StatementTimeout`. It waits for other statements within limits, not for transactions, where the
   * engine has more than one connection.
   */
  within(limitMs: number): Sql;
  /**
   * Does work that one process does at a time; the others wait for their turn, however long it takes. Meanwhile it holds
   * no snapshot, for whose end `runOutside` would wait. Rejects as the work does, or when the connection that holds the turn
   * broke.
   */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result>;
  /**
   * Runs one statement outside any transaction and without limits: `create index concurrently` can be run in no other way.
   * Behind a pooler that shares sessions those of the role and the database hold. It does not wait for its turn.
   */
  runOutside(statement: string): Promise<void>;
  /** Rejects when the database cannot be reached. */
  check(): Promise<void>;
  /** How its connections are used now, by what they are for; none of an engine inside the process. */
  connections(): Record<string, Connections>;
}

/** About the longest limit that PostgreSQL takes: 24 days, in milliseconds. */
export const limitMaxMs = 2_147_483_000;

/** Of a transaction, in milliseconds, from 1 to `limitMaxMs`. */
export interface Limits {
  /** Of each statement, the waiting for locks included; 10,000 unless given. */
  statementMs: number;
  /** Of the waiting for each lock; 8000 unless given. */
  lockMs: number;
  /** Of the time between two statements, in which it is this process that has something to do; 5000 unless given. */
  idleMs: number;
}

export interface Connections {
  busy: number;
  idle: number;
  /** Those who wait for one. */
  waiting: number;
}

/** The database is away, or cannot do what it is asked for now; the same may succeed later. */
export class DatabaseUnavailable extends Error {
  constructor(cause: unknown) {
    super(`the database is not available: ${messageOf(cause)}`, { cause });
  }
}

export class StatementTimeout extends Error {
  readonly limitMs: number;

  constructor(limitMs: number) {
    super(`a statement took longer than ${limitMs} ms`);
    this.limitMs = limitMs;
  }
}

const postgres: Adapter<Database> = {
  form: "postgres://USER:PASSWORD@HOST:5432/DATABASE?pool=10&connect_timeout=5&sslmode=disable&sslrootcert=FILE",
  load: () => import("./postgres.ts"),
  parameters: {
    pool: { must: "a whole number of connections from 1", test: isWholeNumber },
    connect_timeout: { must: "a whole number of seconds from 1", test: isWholeNumber },
    sslmode: {
      must: "one of disable, require, verify-full",
      test: (text) => ["disable", "require", "verify-full"].includes(text),
    },
    sslrootcert: { must: "the name of a file", test: (text) => text !== "" },
  },
};

/** Those that can be a copy of another for reading. */
export const replicas = { "postgres:": postgres, "postgresql:": postgres } satisfies Adapters<Database>;

export const databases = {
  "pglite:": { form: "pglite:FOLDER or pglite:memory", load: () => import("./pglite.ts") },
  ...replicas,
} satisfies Adapters<Database>;

/** The same statements; whoever waits for one longer than the limit is told so, and not answered late. */
export function givenUpAfter(limitMs: number, sql: Sql): Sql {
  const late = new StatementTimeout(limitMs);
  return {
    query: (...statement) => inTime(sql.query(...statement), limitMs, late),
    run: (script) => inTime(sql.run(script), limitMs, late),
  };
}

export const openDatabase = (url: string) => openAdapter<Database>(databases, url);

/**
 * Whether an error with this SQLSTATE is of the moment, so that the same may succeed later: classes 08 (connection), 28
 * and 3D (no way in), 40 (rolled back among others), 53 (out of resources), 57P (starting, stopping), 58 (the system, its
 * disks say), 25006 (read-only after a failover), 0A000 (a kept plan is of before a migration), and what reached a limit:
 * 55P03 (waited too long for a lock), 57014 (took too long), 25P03 (did nothing for too long).
 */
export const isOfTheMoment = (code: string | undefined): boolean =>
  /^(08|28|3D|40|53|57P|58|25006|0A000|55P03|57014|25P03)/.test(code ?? "");

/**
 * Whether a file could not be written for a reason that PostgreSQL has no SQLSTATE for, a quota or a limit of the size of
 * files: it tells these as internal errors, XX000, from the files of its source that write files.
 */
export const isFileFault = (error: unknown): boolean => {
  const { code, file } = error as { code?: string; file?: string };
  return code === "XX000" && /^(buffile|dsm_impl|fd|logtape|md|slru|xlog)\.c$/.test(file ?? "");
};

/**
 * Whether the database refused the data rather than the moment: what failed so will fail again. SQLSTATE classes 22
 * (data exception), 23 (constraint violation) and 54 (limit exceeded).
 */
export const isDataFault = (error: unknown): boolean =>
  /^(22|23|54)...$/.test((error as { code?: string } | null)?.code ?? "");

/**
 * Whether the database can keep every text in a JSON value: it takes no NUL and no half of a surrogate pair. In JSON
 * text these stand as escapes that an even number of backslashes precedes.
 */
export const isStorable = (value: unknown): boolean =>
  !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f]..)/.test(JSON.stringify(value));
