import type { ServerResponse } from "node:http";
import { openFeatureStore } from "../../src/features/store/stores.ts";
import { entityTag } from "../../src/http/entity-tag.ts";
import { respond, serve } from "./serve.ts";

/** A feature storage on `node:http`: the same store calls and the same bytes, without validation and metrics. */
const store = await openFeatureStore(process.env.FEATURES_STORE_URL as string);
const added = '{"result":true}\n';

async function list(resource: string, id: string, response: ServerResponse): Promise<void> {
  const names = (await store.list(resource, id)).map(({ feature }) => feature);
  const text = `${JSON.stringify(names)}\n`;
  respond(response, text, { etag: entityTag(text) });
}

async function add(resource: string, id: string, feature: string, response: ServerResponse): Promise<void> {
  const outcome = await store.change(resource, id, [{ type: "add", feature }]);
  respond(response, added, {}, "had" in outcome && outcome.had[0] ? 200 : 201);
}

async function remove(resource: string, id: string, feature: string, response: ServerResponse) {
  await store.change(resource, id, [{ type: "remove", feature }]);
  response.writeHead(204).end();
}

serve((request, response) => {
  const [, , resource = "", id = "", feature = ""] = (request.url as string).split("/");
  if (request.method === "GET") list(resource, id, response);
  else if (request.method === "POST") add(resource, id, feature, response);
  else remove(resource, id, feature, response);
});
