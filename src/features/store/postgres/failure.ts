import pg from "pg";
import { DatabaseUnavailable, type Sql, StatementTimeout } from "../../../database/database.ts";
import { StoreFailure } from "../store.ts";

export const late = new StoreFailure("the store did not respond in time");

/** SQLSTATE classes of a server that cannot be used now: 08 (connection), 57P (starting or stopping), 25006 (replica). */
const isAway = (code: string) => /^(08|57P|25006)/.test(code);

/** The failure for an error of the database. Its message names neither hosts nor statements nor data. */
function failureOf(error: unknown): StoreFailure {
  if (error instanceof StatementTimeout) return late;
  const cause = error instanceof DatabaseUnavailable ? error.cause : error;
  const code = cause instanceof pg.DatabaseError ? cause.code : undefined;
  const reason =
    code === undefined || isAway(code) ? "cannot be reached" : `returned an error (SQLSTATE ${code})`;
  return new StoreFailure(`the store ${reason}`, { cause: error });
}

/** Rejects with `StoreFailure` instead of the errors of a database. */
export const withFailures =
  ({ query }: Sql): Sql["query"] =>
  async (...statement) => {
    try {
      return await query(...statement);
    } catch (error) {
      throw failureOf(error);
    }
  };
