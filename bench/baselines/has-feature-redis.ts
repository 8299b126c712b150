import { createClient } from "@redis/client";
import { respond, serve } from "./serve.ts";

/** Reads a field of a hash, as the feature storage does, with a client that pipelines by itself. */
const client = createClient({
  url: process.env.FEATURES_STORE_URL as string,
  RESP: 2,
  // Its timer costs several times as much as a command.
  commandOptions: { timeout: undefined },
});
await client.connect();
await client.sendCommand(["HSET", "features:customer/42", "dark-mode", "1"]);

serve(async (request, response) => {
  const [, , resource = "", id = "", feature = ""] = (request.url as string).split("/");
  const command = ["HMGET", `features:${resource}/${id}`, feature];
  const [value] = await client.sendCommand<(string | null)[]>(command);
  respond(response, value == null ? '{"result":false}\n' : '{"result":true}\n');
});
