import pg from "pg";
import { pipelined, pipelineOptions, pipelinesMax } from "../../src/database/postgres/pipeline.ts";

/** A named statement on a database, pipelined as in the services. It resolves with rows of values. */
export function statement(
  connectionString: string | undefined,
  text: string,
): (values: unknown[]) => Promise<unknown[][]> {
  const pool = new pg.Pool({ connectionString, ...pipelineOptions, max: pipelinesMax });
  const withClient = pipelined(pool);
  const named = { name: "statement", text, rowMode: "array" as const };
  return async (values) => (await withClient((client) => client.query({ ...named, values }))).rows;
}
