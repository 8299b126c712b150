import { respond, serve } from "./serve.ts";
import { statement } from "./statement.ts";

/** Responds to `/v1/transaction/ID` with the text that is stored for the id. It reads nothing else of the request. */
const find = statement(process.env.DATABASE_URL, "select body from stored_json where external_id = $1");
const idStart = "/v1/transaction/".length;

serve(async ({ url = "" }, response) => {
  const end = url.indexOf("?");
  const [row] = await find([url.slice(idStart, end === -1 ? undefined : end)]);
  if (row) respond(response, row[0] as string);
  else response.writeHead(404, { "content-length": "0" }).end();
});
