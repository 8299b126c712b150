import { startRedis } from "../testing/servers/redis.ts";
import type { Target } from "./attack.ts";
import { watch } from "./attack.ts";
import { send } from "./client.ts";
import { attacksOnFeatures } from "./features-attacks.ts";
import type { OpenSubject, Subject } from "./subject.ts";
import { startWatched } from "./watched-service.ts";

/** Requests about another resource. */
const pings = [
  { path: "/features/other/1/present", status: 200 },
  { path: "/features/other/1", status: 200 },
  { method: "POST", path: "/features/other/1/present", status: 200 },
];

export const featureSubjects: Subject[] = [
  subject("features-lmdb", async () => () => "lmdb:./features"),
  subject("features-redis", async (opened) => {
    const redis = opened.use(await startRedis("--databases", "1000"));
    let database = 0;
    return () => `${redis.url}/${database++}`;
  }),
];

function subject(name: string, openEngine: (opened: AsyncDisposableStack) => Promise<() => string>): Subject {
  return {
    name,
    attacks: attacksOnFeatures.map((attack) => attack.name),
    async open(): Promise<OpenSubject> {
      await using opening = new AsyncDisposableStack();
      const newStore = await openEngine(opening);
      const opened = opening.move();
      return {
        async run(attackName) {
          const attack = attacksOnFeatures.find((one) => one.name === attackName);
          if (!attack) throw new Error(`there is no attack ${attackName}`);
          await using service = await startWatched("features", { FEATURES_STORE_URL: newStore() }, true);
          await send(`${service.url}/features/other/1/present`, [201], { method: "POST" });
          const target: Target = { service, pings, isEmbedded: false };
          return await watch(target, attack);
        },
        [Symbol.asyncDispose]: () => opened.disposeAsync(),
      };
    },
  };
}
