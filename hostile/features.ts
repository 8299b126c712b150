import { createDatabase } from "../bench/create-database.ts";
import { startPostgres } from "../testing/servers/postgres.ts";
import { startRedis } from "../testing/servers/redis.ts";
import { type Attack, type Outcome, type Target, watch } from "./attack.ts";
import { send } from "./client.ts";
import { attacksOnFeatures } from "./features-attacks.ts";
import { createSubject, type Subject } from "./subject.ts";
import { startWatched } from "./watched-service.ts";

/** Requests about another resource. */
const pings = [
  { path: "/features/other/1/present", status: 200 },
  { path: "/features/other/1", status: 200 },
  { method: "POST", path: "/features/other/1/present", status: 200 },
];

export const featureSubjects: Subject[] = [
  createSubject("features-lmdb", attacksOnFeatures, async () => async () => "lmdb:./features", run),
  createSubject(
    "features-redis",
    attacksOnFeatures,
    async (opened) => {
      const redis = opened.use(await startRedis("--databases", "1000"));
      let database = 0;
      return async () => `${redis.url}/${database++}`;
    },
    run,
  ),
  createSubject(
    "features-postgres",
    attacksOnFeatures,
    async (opened) => {
      const server = opened.use(await startPostgres());
      let runs = 0;
      return () => createDatabase(server, `run_${runs++}`);
    },
    run,
  ),
];

async function run(attack: Attack<Target>, storeUrl: string): Promise<Outcome> {
  await using service = await startWatched("features", { FEATURES_STORE_URL: storeUrl }, true);
  await send(`${service.url}/features/other/1/present`, [201], { method: "POST" });
  return await watch({ service, pings, isEmbedded: false }, attack);
}
