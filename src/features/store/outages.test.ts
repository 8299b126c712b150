import { expect, test } from "vitest";
import { openTcpProxy } from "../../../simulation/tcp-proxy.ts";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { freePort } from "../../../testing/free-port.ts";
import { isPostgresInstalled, startPostgres } from "../../../testing/servers/postgres.ts";
import { isRedisInstalled, startRedis } from "../../../testing/servers/redis.ts";
import type { TestServer } from "../../../testing/servers/server.ts";
import { add, expectFailures, featuresOf, names } from "./new-store.fixture.ts";
import { StoreFailure } from "./store.ts";
import { openFeatureStore } from "./stores.ts";

const silent = "the store did not respond in time";
const gone = "the store cannot be reached";
const goneOrSilent = new RegExp(`^(${gone}|${silent})$`);

interface Kind {
  name: string;
  isInstalled: boolean;
  start(): Promise<TestServer>;
  /** What the store says after the server was killed, and when it is suspended and the store tries to connect again. */
  afterKill: string | RegExp;
  whileSuspended: string | RegExp;
}
const redis: Kind = {
  ...{ name: "Redis", isInstalled: isRedisInstalled(), start: startRedis },
  ...{ afterKill: gone, whileSuspended: silent },
};
const postgres: Kind = {
  ...{ name: "PostgreSQL", isInstalled: isPostgresInstalled(), start: startPostgres },
  ...{ afterKill: goneOrSilent, whileSuspended: goneOrSilent },
};

for (const { name, isInstalled, start, afterKill, whileSuspended } of [redis, postgres]) {
  describeIfAvailable(name, isInstalled)(`a store in a ${name} that fails`, () => {
    test("has every answered change after a kill and a restart", async () => {
      await using server = await start();
      await using store = await openFeatureStore(server.url);
      await store.change("kind", "1", [add("a")]);
      const outcomes = Promise.allSettled(names(300).map((id) => store.change("kind", id, [add("b")])));
      await server.kill();
      const answered: string[] = [];
      for (const [id, outcome] of (await outcomes).entries()) {
        if (outcome.status === "fulfilled") answered.push(String(id));
        else expect(outcome.reason).toBeInstanceOf(StoreFailure);
      }
      await expectFailures(store, afterKill);
      for (const startAgain of [server.start, server.restart]) {
        await startAgain();
        await eventually(async () => expect((await featuresOf(store, "kind", "1"))[0]).toBe("a"));
        for (const id of answered) expect(await store.has("kind", id, ["b"])).toEqual([true]);
      }
      expect(await store.change("kind", "1", [add("c")])).toEqual({ had: [false] });
    });

    test("times out while its server is suspended, and answers again when it continues", async () => {
      await using server = await start();
      await using store = await openFeatureStore(server.url);
      await store.change("kind", "1", [add("a")]);
      server.pause();
      await expectFailures(store, silent);
      // The same over a new connection.
      await expectFailures(store, whileSuspended);
      await expect(openFeatureStore(server.url)).rejects.toThrow(/ cannot be used: .*(in time|timeout)$/);
      server.resume();
      await eventually(async () => expect(await store.has("kind", "1", ["a"])).toEqual([true]));
      await eventually(async () =>
        expect(await store.change("kind", "1", [add("a")])).toEqual({ had: [true] }),
      );
    });

    test("times out on a connection that becomes silent, and continues over a new one", async () => {
      await using server = await start();
      await using proxy = await openTcpProxy(server.url);
      await using store = await openFeatureStore(proxy.url);
      await store.change("kind", "1", [add("a")]);
      proxy.dropPackets();
      await expect(featuresOf(store, "kind", "1")).rejects.toThrow(silent);
      proxy.restore();
      await eventually(async () => expect(await featuresOf(store, "kind", "1")).toEqual(["a"]));
    });
  });
}

test.each([
  ["redis://user:hunter2@HOST/1", "the Redis at HOST"],
  ["redis+cluster://user:hunter2@HOST,127.0.0.1:1", "the Redis at HOST, 127.0.0.1:1"],
  ["postgres://user:hunter2@HOST/features", "the PostgreSQL at HOST"],
])("%s cannot be opened if nothing listens there, and the reason has no password", async (url, name) => {
  const host = `127.0.0.1:${await freePort()}`;
  await expect(openFeatureStore(url.replace("HOST", host))).rejects.toThrow(
    new RegExp(`^${name.replace("HOST", host)} cannot be used: [^@]*ECONNREFUSED[^@]*$`),
  );
});
