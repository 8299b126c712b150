import { type Adapters, openAdapter } from "../../service/adapter.ts";

/**
 * Runs SQL with values as `$1`, `$2` … and nothing else. Rows come with `bigint` columns as bigint, `timestamptz` as
 * text in UTC with six fraction digits and `Z`, `jsonb` as the value it holds.
 */
export interface Sql {
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Runs several statements, without values. */
  run(script: string): Promise<void>;
}

export interface Database extends Sql, AsyncDisposable {
  /** All of the work is committed, or, when it rejects, none. */
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /**
   * The same, but every statement is given up on after so many milliseconds, the waiting for its turn included:
   * it rejects with `StatementTimeout`.
   */
  within(limitMs: number): Sql;
  /** Rejects when the database cannot be reached. */
  check(): Promise<void>;
}

export class StatementTimeout extends Error {
  readonly limitMs: number;

  constructor(limitMs: number) {
    super(`a statement took longer than ${limitMs} ms`);
    this.limitMs = limitMs;
  }
}

export const databases: Adapters<Database> = {
  "pglite:": { form: "pglite:FOLDER or pglite:memory", load: () => import("./pglite.ts") },
};

export const openDatabase = (url: string) => openAdapter(databases, url);

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
