import pg from "pg";
import { pipelined, pipelineOptions, pipelinesMax } from "../../src/database/pipeline.ts";
import { serve } from "./serve.ts";

/** Responds to `/v1/transaction/ID` with the text that is stored for the id. It reads nothing else of the request. */
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  ...pipelineOptions,
  max: pipelinesMax,
});
const withClient = pipelined(pool);
const statement = {
  name: "stored",
  text: "select body from stored_json where external_id = $1",
  rowMode: "array" as const,
};
const idStart = "/v1/transaction/".length;
const notFound = { "content-length": "0" };

serve(async ({ url = "" }, response) => {
  const end = url.indexOf("?");
  const id = url.slice(idStart, end === -1 ? undefined : end);
  const { rows } = await withClient((client) => client.query({ ...statement, values: [id] }));
  const body: string | undefined = rows[0]?.[0];
  if (body === undefined) {
    response.writeHead(404, notFound).end();
    return;
  }
  response.writeHead(200, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
});
