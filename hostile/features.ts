import { createDatabase } from "../bench/create-database.ts";
import { startPostgres } from "../testing/servers/postgres.ts";
import { startRedis } from "../testing/servers/redis.ts";
import { type Attack, type Outcome, type Target, watch } from "./attack.ts";
import { send } from "./client.ts";
import { attacksOnHistory, attacksOnRequests, attacksOnStores } from "./features-attacks.ts";
import { createSubject, type Subject } from "./subject.ts";
import { startWatched } from "./watched-service.ts";

/** Requests about another resource. */
const pings = [
  { path: "/features/other/1/present", status: 200 },
  { path: "/features/other/1", status: 200 },
  { method: "POST", path: "/features/other/1/present", status: 200 },
];

/** Opens the servers of a store. Resolves with a function that resolves with the URL of a new store. */
type OpenStores = (opened: AsyncDisposableStack) => Promise<() => Promise<string>>;

const openLmdb: OpenStores = async () => async () => "lmdb:./features";

const openRedis: OpenStores = async (opened) => {
  const redis = opened.use(await startRedis("--databases", "1000"));
  let database = 0;
  return async () => `${redis.url}/${database++}`;
};

const openPostgres: OpenStores = async (opened) => {
  const server = opened.use(await startPostgres());
  let runs = 0;
  return () => createDatabase(server, `run_${runs++}`);
};

const withHistory =
  (open: OpenStores): OpenStores =>
  async (opened) => {
    const newStore = await open(opened);
    return async () => `${await newStore()}?keep=all`;
  };

const on = (name: string, attacks: Attack<Target>[], openStores: OpenStores): Subject =>
  createSubject(name, attacks, async (opened) => {
    const newStore = await openStores(opened);
    return async (attack) => run(attack, await newStore());
  });

export const featureSubjects: Subject[] = [
  on("features-lmdb", [...attacksOnRequests, ...attacksOnStores], openLmdb),
  on("features-redis", attacksOnStores, openRedis),
  on("features-postgres", attacksOnStores, openPostgres),
  on("features-lmdb-history", attacksOnHistory, withHistory(openLmdb)),
  on("features-postgres-history", attacksOnHistory, withHistory(openPostgres)),
];

async function run(attack: Attack<Target>, storeUrl: string): Promise<Outcome> {
  await using service = await startWatched("features", { FEATURES_STORE_URL: storeUrl }, true);
  await send(`${service.url}/features/other/1/present`, [201], { method: "POST" });
  return await watch({ url: service.url, service, pings, isEmbedded: false }, attack);
}
