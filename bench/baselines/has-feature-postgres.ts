import { respond, serve } from "./serve.ts";
import { statement } from "./statement.ts";

/** Responds to `/features/RESOURCE/ID/FEATURE` with one statement on the table of the feature storage. */
const find = statement(
  process.env.FEATURES_STORE_URL,
  "select from feature_storage.feature where resource = $1 and id = $2 and feature = $3",
);

serve(async (request, response) => {
  const rows = await find((request.url as string).split("/").slice(2));
  respond(response, rows.length === 0 ? '{"result":false}\n' : '{"result":true}\n');
});
