import type { ServerResponse } from "node:http";
import { openFeatureStore } from "../../src/features/store/store.ts";
import { entityTag } from "../../src/http/entity-tag.ts";
import { serve } from "./serve.ts";

/** A feature storage on `node:http`: the same store calls and the same bytes, without validation and metrics. */
const store = await openFeatureStore(process.env.FEATURES_STORE_URL as string);
const json = "application/json; charset=utf-8";
const addedBody = '{"result":true}\n';
const addedHeaders = { "content-type": json, "content-length": String(addedBody.length) };

async function list(resource: string, id: string, response: ServerResponse): Promise<void> {
  const names = (await store.list(resource, id)).map(({ feature }) => feature);
  const text = `${JSON.stringify(names)}\n`;
  const length = String(Buffer.byteLength(text));
  response.writeHead(200, { etag: entityTag(text), "content-type": json, "content-length": length });
  response.end(text);
}

async function add(resource: string, id: string, feature: string, response: ServerResponse): Promise<void> {
  const outcome = await store.change(resource, id, [{ type: "add", feature }]);
  response.writeHead("had" in outcome && outcome.had[0] ? 200 : 201, addedHeaders);
  response.end(addedBody);
}

async function remove(resource: string, id: string, feature: string, response: ServerResponse) {
  await store.change(resource, id, [{ type: "remove", feature }]);
  response.writeHead(204);
  response.end();
}

serve((request, response) => {
  const [, , resource = "", id = "", feature = ""] = (request.url as string).split("/");
  if (request.method === "GET") list(resource, id, response);
  else if (request.method === "POST") add(resource, id, feature, response);
  else remove(resource, id, feature, response);
});
