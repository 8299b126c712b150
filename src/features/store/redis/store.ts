import type { Address } from "../../../engines/adapter.ts";
import { sharedNext } from "../../../waiting/shared.ts";
import { changeMany } from "../change-many.ts";
import { type RedisParameters, recordsKept } from "../parameters.ts";
import type { FeatureStore } from "../store.ts";
import { directoryOf } from "./directory.ts";
import { featuresIn, makeChanges } from "./features.ts";
import { feedOf } from "./feed.ts";
import { keyOf, parts } from "./keys.ts";
import { openServers, type Servers } from "./servers.ts";

/** Maximum number of expiries in one step, for each part. */
const expiriesPerPart = 25;

/**
 * A store in a Redis or a Redis Cluster. All keys of a resource are in one part (`keys.ts`), so that one script can
 * change them atomically (`change.lua`). Names in keys are percent-encoded. The keys of a part:
 *
 *     features:{3/16}:of:RESOURCE/ID          hash: feature -> place and expiry time
 *     features:{3/16}:with:RESOURCE/FEATURE   sorted set without scores: id, and after \0 the expiry time
 *     features:{3/16}:used:RESOURCE           sorted set without scores: the features of which there is a `with`
 *     features:{3/16}:kinds                   sorted set without scores: the kinds of which there is a `used`
 *     features:{3/16}:indexed                 `kinds` if `used` and `kinds` are complete; an earlier release wrote neither or
 *                                             `used` only
 *     features:{3/16}:due                     sorted set by expiry time: [resource, id, feature]
 *     features:{3/16}:changes                 stream: the change records, numbered from 0-1. A place is such a number
 *     features:{3/16}:log                     id of the stream, new when the part was emptied
 */
export async function open({ url, others, parameters }: Address<RedisParameters>): Promise<FeatureStore> {
  const servers = await openServers([url, ...others], parameters.server_name);
  const kept = recordsKept(parameters);
  const expire = sharedNext(() => expireSome(servers, kept));
  return {
    ...featuresIn(servers, kept),
    ...directoryOf(servers),
    ...feedOf(servers, expire),
    history: undefined,
    expire,
    async [Symbol.asyncDispose]() {
      servers[Symbol.dispose]();
    },
  };
}

/** See `Upkeep.expire`. */
async function expireSome(servers: Servers, kept: number): Promise<boolean> {
  const range = ["-inf", String(Date.now()), "LIMIT", "0", String(expiriesPerPart)];
  const due = await Promise.all(
    parts.map((part) => servers.send<string[]>(part, ["ZRANGEBYSCORE", keyOf(part, "due"), ...range])),
  );
  const expiries = due.flat().map((member) => {
    const [resource, id, feature] = JSON.parse(member);
    return { type: "expire" as const, resource, id, feature };
  });
  await changeMany((...request) => makeChanges(servers, kept, ...request), expiries);
  return due.some(({ length }) => length === expiriesPerPart);
}
