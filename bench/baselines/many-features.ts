import { createClient } from "@redis/client";
import { keyOf, pairs, partOf, parts } from "../../src/features/store/redis/keys.ts";
import { shareOf } from "../../src/features/store/redis/merge.ts";
import type { ResourceName } from "../../src/features/store/store.ts";
import { respond, serve } from "./serve.ts";
import { statement } from "./statement.ts";

/**
 * Responds to a bulk evaluation, a page of a reverse lookup and a query with the client of a Redis or a PostgreSQL, on the
 * data of the feature storage. Names are ASCII, a page has all that it reads at once, and nothing expires.
 */
const url = new URL(process.env.FEATURES_STORE_URL as string);

interface Client {
  list(one: ResourceName): Promise<string[]>;
  inUse(resource: string): Promise<string[]>;
  idsWith(resource: string, feature: string, limit: number): Promise<string[]>;
  has(resources: ResourceName[], features: string[]): Promise<boolean[][]>;
}

async function redisClient(): Promise<Client> {
  const options = { RESP: 2 as const, commandOptions: { timeout: undefined } };
  const client = createClient({ ...options, url: url.href });
  await client.connect();
  const membersOf = async (key: string[], count: number) => {
    const limit = ["LIMIT", "0", String(count)];
    const replies = parts.map((part) =>
      client.sendCommand<string[]>(["ZRANGEBYLEX", keyOf(part, ...(key as [string])), "-", "+", ...limit]),
    );
    return [...new Set((await Promise.all(replies)).flat())].sort();
  };
  return {
    async list({ resource, id }) {
      const key = keyOf(partOf(resource, id), "of", resource, id);
      const [, fields] = await client.sendCommand<[string, string[]]>(["HSCAN", key, "0", "COUNT", "4000"]);
      return pairs(fields)
        .sort(([, one], [, other]) => Number.parseInt(one, 10) - Number.parseInt(other, 10))
        .map(([feature]) => feature);
    },
    inUse: (resource) => membersOf(["used", resource], 50),
    idsWith: async (resource, feature, limit) =>
      (await membersOf(["with", resource, feature], shareOf(limit))).slice(0, limit),
    has: (resources, features) =>
      Promise.all(
        resources.map(async ({ resource, id }) => {
          const key = keyOf(partOf(resource, id), "of", resource, id);
          const values = await client.sendCommand<(string | null)[]>(["HMGET", key, ...features]);
          return values.map((value) => value !== null);
        }),
      ),
  };
}

function postgresClient(): Client {
  const from = "from feature_storage.feature where resource = $1";
  const list = statement(url.href, `select feature ${from} and id = $2 order by place`);
  const inUse = statement(
    url.href,
    "select feature from feature_storage.feature_use where resource = $1 order by feature",
  );
  const idsWith = statement(url.href, `select id ${from} and feature = $2 order by id limit $3`);
  const has = statement(
    url.href,
    `select array(
      select exists (select from feature_storage.feature f where f.resource = r.resource and f.id = r.id and f.feature = w)
      from unnest($3::text[]) as w
    ) from unnest($1::text[], $2::text[]) as r (resource, id)`,
  );
  const firstColumn = async <Value>(rows: Promise<unknown[][]>) =>
    (await rows).map(([value]) => value as Value);
  return {
    list: ({ resource, id }) => firstColumn<string>(list([resource, id])),
    inUse: (resource) => firstColumn<string>(inUse([resource])),
    idsWith: (resource, feature, limit) => firstColumn<string>(idsWith([resource, feature, limit])),
    has: (resources, features) =>
      firstColumn<boolean[]>(
        has([resources.map(({ resource }) => resource), resources.map(({ id }) => id), features]),
      ),
  };
}

const client = url.protocol === "redis:" ? await redisClient() : postgresClient();

async function pageOf(resource: string, query: URLSearchParams) {
  const ids = await client.idsWith(resource, query.get("feature") as string, Number(query.get("limit")));
  return { ids, next_cursor: Buffer.from(ids.at(-1) as string).toString("base64url") };
}

async function evaluationOf(targetingKey: string, host: string) {
  const [resource = "", id = ""] = targetingKey.split("/");
  const [list, inUse] = await Promise.all([client.list({ resource, id }), client.inUse(resource)]);
  const has = new Set(list);
  const flags = [...has.union(new Set(inUse))].map((key) =>
    has.has(key)
      ? { key, value: true, reason: "TARGETING_MATCH", variant: "on" }
      : { key, value: false, reason: "STATIC", variant: "off" },
  );
  const events = `http://${host}/ofrep/v1/events?${new URLSearchParams({ resource, id })}`;
  return { flags, eventStreams: [{ type: "sse", url: events }] };
}

async function resultsOf(resources: ResourceName[], features: string[]) {
  const has = await client.has(resources, features);
  return { results: resources.map((one, index) => ({ ...one, has: has[index] })) };
}

serve(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url as string, "http://localhost");
  if (request.method === "GET") {
    return respond(response, JSON.stringify(await pageOf(pathname.split("/")[2] as string, searchParams)));
  }
  let text = "";
  for await (const chunk of request) text += chunk;
  const body = JSON.parse(text);
  const result =
    pathname === "/query"
      ? await resultsOf(body.resources, body.features)
      : await evaluationOf(body.context.targetingKey, request.headers.host as string);
  respond(response, JSON.stringify(result));
});
