import pg from "pg";
import { pipelined, pipelineOptions, pipelinesMax } from "../../src/database/pipeline.ts";
import { serve } from "./serve.ts";

/** Responds to `/features/RESOURCE/ID/FEATURE` with one statement on the table of the feature storage. */
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  ...pipelineOptions,
  max: pipelinesMax,
});
const withClient = pipelined(pool);
const statement = {
  name: "has",
  text: "select from feature_storage.feature where resource = $1 and id = $2 and feature = $3",
  rowMode: "array" as const,
};
const headers = { "content-type": "application/json; charset=utf-8" };

serve(async (request, response) => {
  const values = (request.url as string).split("/").slice(2);
  const { rows } = await withClient((client) => client.query({ ...statement, values }));
  const body = rows.length === 0 ? '{"result":false}\n' : '{"result":true}\n';
  response.writeHead(200, { ...headers, "content-length": body.length });
  response.end(body);
});
