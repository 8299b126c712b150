import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createClient } from "@redis/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { isOpensslInstalled, makeCertificate } from "../../../testing/certificate.ts";
import { describeNeeding } from "../../../testing/describe-needing.ts";
import { eventually } from "../../../testing/eventually.ts";
import { freePort } from "../../../testing/free-port.ts";
import { patienceMs } from "../../../testing/patience.ts";
import {
  isRedisInstalled,
  startRedis,
  startRedisCluster,
  type TestCluster,
} from "../../../testing/servers/redis.ts";
import { converse, type TestServer } from "../../../testing/servers/server.ts";
import {
  type ChangeRecord,
  type FeatureChange,
  type FeatureStore,
  openFeatureStore,
  StoreFailure,
} from "./store.ts";

const add = (feature: string, expiresAt?: number): FeatureChange => ({ type: "add", feature, expiresAt });
const remove = (feature: string): FeatureChange => ({ type: "remove", feature });

/** What a server may take to answer is 2 seconds; a busy machine takes several times as long to notice. */
const failsWithinMs = 10_000;
const tell = (url: string, command: string) => converse(url, `${command}\r\n`, "+OK");

/** Every way to ask a store. */
const calls: Record<string, (store: FeatureStore) => Promise<unknown>> = {
  list: (store) => store.list("kind", "1"),
  has: (store) => store.has("kind", "1", "a"),
  change: (store) => store.change("kind", "1", [add("lost")]),
  idsWith: (store) => store.idsWith("kind", "a", undefined, 10),
  changes: (store) => store.changes(undefined, 10),
  newest: (store) => store.newest(),
  entries: (store) => Array.fromAsync(store.entries()),
};

/** Fails unless each call rejects in time, with words for callers. */
async function expectFailures(store: FeatureStore, words: string): Promise<void> {
  const begun = performance.now();
  for (const outcome of await Promise.allSettled(Object.values(calls).map((call) => call(store)))) {
    expect(outcome).toEqual({ status: "rejected", reason: expect.any(StoreFailure) });
    expect((outcome as PromiseRejectedResult).reason.message).toBe(words);
  }
  expect(performance.now() - begun).toBeLessThan(failsWithinMs);
}

/** Runs a program that opens the store and uses it; tells what it said. */
async function runWith(url: string, environment: Record<string, string> = {}): Promise<string> {
  const store = fileURLToPath(new URL("store.ts", import.meta.url));
  const program = `
    const { openFeatureStore } = await import(${JSON.stringify(store)});
    try {
      const store = await openFeatureStore(process.argv[1]);
      await store.change("kind", "1", [{ type: "add", feature: "a" }]);
      console.log("lists", ...(await store.list("kind", "1")));
      await store[Symbol.asyncDispose]();
    } catch (error) {
      console.log(error.message);
    }`;
  const args = ["--input-type=module", "--eval", program, url];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...environment },
    timeout: patienceMs,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  expect(code).toBe(0);
  return said.trim();
}

describeNeeding("Redis", isRedisInstalled())("a Redis that has its troubles", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  beforeEach(() => tell(server.url, "FLUSHALL"));
  const opened = (parameters = "") => openFeatureStore(server.url + parameters);
  /** All keys that are there. */
  async function keys(): Promise<string[]> {
    const client = await createClient({ url: server.url }).connect();
    const found = await client.keys("*");
    client.destroy();
    return found;
  }

  test("has every answered change after a kill and a restart", async () => {
    await using store = await opened();
    await store.change("kind", "1", [add("a")]);
    await server.kill();
    await expectFailures(store, "the store cannot be reached");
    await server.start();
    expect(await store.list("kind", "1")).toEqual(["a"]);
    expect(await store.change("kind", "1", [add("b")])).toEqual([false]);
  });

  test("is killed while it is asked", async () => {
    await using store = await opened();
    const asking = Array.from({ length: 300 }, (_, index) => store.change("kind", `${index}`, [add("a")]));
    const outcomes = Promise.allSettled(asking);
    await server.kill();
    for (const outcome of await outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toBeInstanceOf(StoreFailure);
    }
    await server.start();
    expect(await store.has("kind", "none", "a")).toBe(false);
  });

  test("hangs, and serves again when it goes on", async () => {
    await using store = await opened();
    await store.change("kind", "1", [add("a")]);
    server.pause();
    try {
      await expectFailures(store, "the store did not respond in time");
      // Also through a connection that is made now.
      await expectFailures(store, "the store did not respond in time");
    } finally {
      server.resume();
    }
    await eventually(async () => expect(await store.has("kind", "1", "a")).toBe(true));
  });

  test("hangs for less than it may take", async () => {
    await using store = await opened();
    await store.change("kind", "1", [add("a")]);
    server.pause();
    const asked = store.list("kind", "1");
    await sleep(500);
    server.resume();
    expect(await asked).toEqual(["a"]);
  });

  test("vanishes behind a connection that is not ended", async () => {
    const through: Socket[] = [];
    const proxy = createServer((socket) => {
      const { port } = new URL(server.url);
      const onwards = connect(Number(port), "127.0.0.1");
      socket.pipe(onwards).pipe(socket);
      through.push(socket, onwards);
      for (const one of [socket, onwards]) one.on("error", () => {});
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const { port } = proxy.address() as { port: number };
    await using store = await openFeatureStore(`redis://127.0.0.1:${port}`);
    await store.change("kind", "1", [add("a")]);
    for (const socket of through) socket.unpipe().pause();
    await expectFailures(store, "the store did not respond in time");
    await eventually(async () => expect(await store.list("kind", "1")).toEqual(["a"]));
    for (const socket of through) socket.destroy();
    proxy.close();
  });

  test("is restarted between two questions", async () => {
    await using store = await opened();
    await store.change("kind", "1", [add("a")]);
    await server.restart();
    expect(await store.list("kind", "1")).toEqual(["a"]);
  });

  test("forgets the script", async () => {
    await using store = await opened();
    await store.change("kind", "1", [add("a")]);
    await tell(server.url, "SCRIPT FLUSH");
    expect(await store.change("kind", "1", [add("a")])).toEqual([true]);
  });

  test("does not know a command: callers are told which, and not what it was given", async () => {
    await using another = await startRedis("--rename-command", "HGETALL", "");
    await using store = await openFeatureStore(another.url);
    await expect(store.list("kind", "1")).rejects.toThrow(
      /^the store returned an error: ERR unknown command 'HGETALL'$/,
    );
  });

  test("is emptied: cursors from before are refused, whatever has come since", async () => {
    await using store = await opened();
    await store.change("kind", "1", [add("a")]);
    const cursor = await store.newest();
    const start = await store.changes(undefined, 1);
    await tell(server.url, "FLUSHALL");
    expect(await store.changes(cursor, 10)).toBe(undefined);
    await store.change("kind", "1", [add("a"), add("b"), add("c")]);
    expect(await store.changes(cursor, 10)).toBe(undefined);
    expect(await store.changes(start?.[0]?.cursor, 10)).toBe(undefined);
    expect(await store.changes(await store.newest(), 10)).toEqual([]);
  });

  test("loses one of its parts: cursors from before are refused", async () => {
    await using store = await opened();
    await store.change("kind", "1", [add("a")]);
    const cursor = await store.newest();
    const lost = (await keys()).find((key) => key.includes(":of:"))?.replace(/:of:.*/, "");
    expect(lost).toBeDefined();
    const ofPart = (await keys()).filter((key) => key.startsWith(`${lost}:`));
    await converse(server.url, `DEL ${ofPart.join(" ")}\r\n`, `:${ofPart.length}`);
    await store.change("kind", "1", [add("a"), add("b")]);
    expect(await store.changes(cursor, 10)).toBe(undefined);
  });

  test("is told of odd cursors that look like its own", async () => {
    await using store = await opened();
    await store.change("kind", "1", [add("a")]);
    const cursor = await store.newest();
    expect(cursor).toMatch(/^[\w.~-]+$/);
    const [log = "", ...positions] = cursor.split(".");
    const odd = [
      [log, ...positions.slice(1)],
      [log, ...positions, "0"],
      [log, ...positions.map((position) => `0${position}`)],
      [log, ...positions.map((position) => `${position}.`)],
      [log, ...positions.map(() => "-1")],
      [log, ...positions.map(() => "2")],
      [`${log}0`, ...positions],
      ["", ...positions],
    ];
    for (const parts of odd) expect(await store.changes(parts.join("."), 10)).toBe(undefined);
  });

  test("has no memory left: nothing is added, the rest goes on", async () => {
    await using store = await opened();
    await store.change("kind", "1", [add("a"), add("b")]);
    const cursor = await store.newest();
    await tell(server.url, "CONFIG SET maxmemory 1");
    try {
      const refused = store.change("kind", "1", [add("c")]);
      await expect(refused).rejects.toThrow(/^the store returned an error: OOM/);
      await expect(refused).rejects.toBeInstanceOf(StoreFailure);
      expect(await store.list("kind", "1")).toEqual(["a", "b"]);
      expect(await store.change("kind", "1", [remove("a")])).toEqual([true]);
      expect(await store.changes(cursor, 10)).toHaveLength(1);
    } finally {
      await tell(server.url, "CONFIG SET maxmemory 0");
    }
    expect(await Array.fromAsync(store.entries())).toEqual([{ resource: "kind", id: "1", feature: "b" }]);
  });

  test("holds something else under a key, or is read-only", async () => {
    await using store = await opened();
    await store.change("kind", "1", [add("a")]);
    const key = (await keys()).find((name) => name.includes(":of:"));
    await tell(server.url, `SET ${key} text`);
    await expect(store.list("kind", "1")).rejects.toThrow(/^the store returned an error: WRONGTYPE/);
    await tell(server.url, `REPLICAOF 127.0.0.1 ${await freePort()}`);
    try {
      await expect(store.change("kind", "2", [add("a")])).rejects.toThrow(
        /^the store returned an error: READONLY/,
      );
    } finally {
      await tell(server.url, "REPLICAOF NO ONE");
    }
  });

  test("keeps databases apart", async () => {
    await using one = await opened("/1");
    await using two = await opened("/2?changes=10");
    await one.change("kind", "1", [add("a")]);
    expect(await two.list("kind", "1")).toEqual([]);
    expect(await two.changes(await one.newest(), 10)).toBe(undefined);
  });

  test("lets in who has the password, and refuses others without repeating theirs", async () => {
    const password = "p@ss:wörd/,?#%";
    const commands =
      "+eval +evalsha +get +set +scan +hget +hgetall +hset +hdel +zadd +zrem +zrangebyscore +zrangebylex +xadd +xrange +xrevrange";
    await tell(server.url, latin1(`ACL SETUSER someöne on >${password} ~features:* ${commands}`));
    const { host } = new URL(server.url);
    const urlOf = (secret: string) =>
      `redis://${encodeURIComponent("someöne")}:${encodeURIComponent(secret)}@${host}`;
    await using store = await openFeatureStore(urlOf(password));
    for (const call of Object.values(calls)) await call(store);
    expect(await store.list("kind", "1")).toEqual(["lost"]);
    const refused = openFeatureStore(urlOf("hunter2"));
    await expect(refused).rejects.toThrow(`the Redis at ${host} cannot be used: WRONGPASS`);
    await expect(refused).rejects.not.toThrow("hunter2");
  });

  test("is not there when it is to be opened", async () => {
    const port = await freePort();
    const begun = performance.now();
    expect(await runWith(`redis://user:hunter2@127.0.0.1:${port}`)).toBe(
      `the Redis at 127.0.0.1:${port} cannot be used: connect ECONNREFUSED 127.0.0.1:${port}`,
    );
    const nobody = `redis+cluster://user:hunter2@127.0.0.1:${port},127.0.0.1:${port + 1}`;
    expect(await runWith(nobody)).toMatch(
      /^the Redis at 127.0.0.1:\d+, 127.0.0.1:\d+ cannot be used: connect ECONNREFUSED/,
    );
    expect(performance.now() - begun).toBeLessThan(2 * failsWithinMs);
  });

  test("hangs when it is to be opened", async () => {
    server.pause();
    try {
      const begun = performance.now();
      const { host } = new URL(server.url);
      expect(await runWith(server.url)).toBe(
        `the Redis at ${host} cannot be used: the store did not respond in time`,
      );
      expect(performance.now() - begun).toBeLessThan(2 * failsWithinMs);
    } finally {
      server.resume();
    }
  });

  test("keeps nothing of what is gone, whatever was wished", async () => {
    await using store = await opened();
    await using model = await openFeatureStore("memory:");
    const ids = ["1", "2", "💷", "a/b", "a", "a ", "aé", "\uffee"];
    const features = ["x", "y/z", "%2F", "{0/16}"];
    let seed = 1;
    const pick = <Item>(items: Item[]): Item => {
      seed = (seed * 48271) % 2147483647;
      return items[seed % items.length] as Item;
    };
    const start = Date.now();
    for (let round = 0; round < 400; round++) {
      const id = pick(ids);
      const expiresAt = pick([undefined, undefined, start + 60_000, start + 90_000, Date.now()]);
      const wishes = [pick(features), pick(features)].map((feature) =>
        pick([add(feature, expiresAt), add(feature), remove(feature)]),
      );
      const onlyIf = pick([undefined, undefined, await model.list("kind", id)]);
      // An addition that expires at once is gone for both, if not told of by both at the same time.
      expect(await store.change("kind", id, wishes, onlyIf)).toEqual(
        await model.change("kind", id, wishes, onlyIf),
      );
      expect(await store.list("kind", id)).toEqual(await model.list("kind", id));
    }
    const summary = async (one: FeatureStore) => {
      const changes = ((await one.changes(undefined, 10_000)) ?? []).map(({ record }) => record);
      const ofResource = (id: string) =>
        changes.filter((change) => change.id === id && change.type !== "expired").map(inShort);
      const found = features.map((feature) => one.idsWith("kind", feature, undefined, 10));
      return {
        changes: Object.fromEntries(ids.map((id) => [id, ofResource(id)])),
        entries: (await Array.fromAsync(one.entries()))
          .map((entry) => `${entry.id} ${entry.feature} ${entry.expiresAt}`)
          .sort(),
        ids: (await Promise.all(found)).map((some) => some.sort()),
        expired: changes.filter(({ type }) => type === "expired").length,
      };
    };
    expect(await summary(store)).toEqual(await summary(model));
    for (const id of ids) await store.change("kind", id, features.map(remove));
    await store.newest();
    expect((await keys()).filter((key) => !/:(changes|log)$/.test(key))).toEqual([]);
  });

  test("forgets what is due of a feature that somebody has deleted", async () => {
    await using store = await opened();
    await store.change("kind", "1", [add("a", Date.now() + 1)]);
    const key = (await keys()).find((name) => name.includes(":of:"));
    await converse(server.url, `DEL ${key}\r\n`, ":1");
    await sleep(5);
    await store.newest();
    expect((await keys()).filter((name) => name.endsWith(":due"))).toEqual([]);
  });

  test("gives ids in the order of bytes, page by page, those that begin like others too", async () => {
    await using store = await opened();
    const later = Date.now() + 60_000;
    const ids = ["a", "a ", "a!", "a~", "ab", "aé", "a\uffee", "a💷", "b", "1", "10", "é", "\uffee", "💷"];
    for (const [index, id] of ids.entries()) {
      await store.change("kind", id, [add("x", index % 2 ? later : undefined)]);
    }
    const inOrder = ids.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
    expect(await store.idsWith("kind", "x", undefined, 100)).toEqual(inOrder);
    for (const [index, id] of inOrder.entries()) {
      expect(await store.idsWith("kind", "x", id, 3)).toEqual(inOrder.slice(index + 1, index + 4));
    }
  });

  test("leaves out no id and tells changes in their order when most are in one part", async () => {
    await using store = await opened();
    const all = Array.from({ length: 2000 }, (_, index) => String(index));
    await Promise.all(all.map((id) => store.change("kind", id, [add("y")])));
    const byPart = Map.groupBy(await keys(), (key) => key.replace(/:of:.*/, ""));
    const ofOne = [...byPart.values()].find(({ length }) => length > 50)?.map((key) => key.split("/").at(-1));
    const inOne = all.filter((id) => ofOne?.includes(id));
    const others = all.filter((id) => !inOne.includes(id) && id.endsWith("77"));
    const cursor = await store.newest();
    for (const id of [...inOne, ...others]) await store.change("kind", id, [add("x")]);
    const ids = [...inOne, ...others].sort();
    expect(await store.idsWith("kind", "x", undefined, 60)).toEqual(ids.slice(0, 60));
    expect(await store.idsWith("kind", "x", undefined, 2000)).toEqual(ids);
    const changes = (await store.changes(cursor, 60)) ?? [];
    expect(changes.map(({ record }) => record.id)).toEqual(inOne.slice(0, 60));
    expect(await store.changes(changes.at(-1)?.cursor, 2000)).toHaveLength(ids.length - 60);
  });

  test("tells of thousands of ids, changes and wishes", async () => {
    await using store = await opened();
    const ids = Array.from({ length: 3000 }, (_, index) => String(index));
    await Promise.all(ids.map((id) => store.change("kind", id, [add("x")])));
    const pages: string[][] = [];
    do pages.push(await store.idsWith("kind", "x", pages.at(-1)?.at(-1), 250));
    while (pages.at(-1)?.length === 250);
    expect(pages.flat()).toEqual(ids.toSorted());
    const many = Array.from({ length: 10_000 }, (_, index) => add(`feature ${index}`));
    expect(await store.change("kind", "many", many)).toEqual(many.map(() => false));
    expect(await store.change("kind", "many", many)).toEqual(many.map(() => true));
    expect(await store.list("kind", "many")).toEqual(many.map(({ feature }) => feature));
    expect(await Array.fromAsync(store.entries())).toHaveLength(13_000);
    const ats = ((await store.changes(undefined, 20_000)) ?? []).map(({ record }) => record.at);
    expect(ats).toHaveLength(13_000);
    expect(ats).toEqual(ats.toSorted());
  });
});

const inShort = ({ type, feature, expiresAt }: ChangeRecord) => `${type} ${feature} ${expiresAt}`;
/** As `converse` sends text: a byte for each character. */
const latin1 = (words: string) => Buffer.from(words).toString("latin1");

describeNeeding("Redis or openssl", isRedisInstalled() && isOpensslInstalled())("a Redis behind TLS", () => {
  test("is used when its certificate is trusted, and refused otherwise", async () => {
    using certificate = makeCertificate("127.0.0.1");
    const port = await freePort();
    const files = ["--tls-cert-file", certificate.certificate, "--tls-key-file", certificate.key];
    const options = ["--tls-port", String(port), ...files, "--tls-auth-clients", "no"];
    await using server = await startRedis(...options, "--tls-ca-cert-file", certificate.certificate);
    const url = `rediss://127.0.0.1:${port}`;
    const trusting = { NODE_EXTRA_CA_CERTS: certificate.certificate };
    expect(await runWith(url, trusting)).toBe("lists a");
    expect(await runWith(url)).toContain(
      `the Redis at 127.0.0.1:${port} cannot be used: self-signed certificate`,
    );
    // It is for an address, and not for the name of it.
    expect(await runWith(`rediss://localhost:${port}`, trusting)).toContain("does not match certificate");
    expect(await runWith(server.url.replace("redis:", "rediss:"))).toContain("cannot be used");
  });
});

describeNeeding("Redis", isRedisInstalled())("a Redis Cluster that has its troubles", () => {
  let cluster: TestCluster;
  let store: FeatureStore;
  beforeAll(async () => {
    cluster = await startRedisCluster();
    store = await openFeatureStore(cluster.url);
  });
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });
  beforeEach(() => Promise.all(cluster.nodes.map(({ url }) => tell(url, "FLUSHALL"))));

  const ids = Array.from({ length: 100 }, (_, index) => String(index));
  const addToAll = (feature: string) =>
    Promise.allSettled(ids.map((id) => store.change("kind", id, [add(feature)])));
  const countIn = (outcomes: PromiseSettledResult<unknown>[]) =>
    outcomes.filter(({ status }) => status === "fulfilled").length;

  /** Some of the parts fail in time, the others go on; all do when the node is back. */
  async function expectToLive(without: (node: TestServer) => Promise<() => Promise<void>>) {
    const node = cluster.nodes[1] as TestServer;
    expect(countIn(await addToAll("a"))).toBe(100);
    const bringBack = await without(node);
    try {
      for (const feature of ["b", "c", "d"]) {
        const begun = performance.now();
        const outcomes = await addToAll(feature);
        expect(performance.now() - begun).toBeLessThan(failsWithinMs);
        const failures = outcomes.filter((outcome) => outcome.status === "rejected");
        for (const { reason } of failures) expect(reason).toBeInstanceOf(StoreFailure);
        expect(failures.length).toBeGreaterThan(0);
        expect(failures.length).toBeLessThan(60);
        await expect(store.newest()).rejects.toBeInstanceOf(StoreFailure);
      }
      // Who comes now asks those that are there.
      await using other = await openFeatureStore(cluster.url);
      const outcomes = await Promise.allSettled(ids.map((id) => other.has("kind", id, "a")));
      expect(countIn(outcomes)).toBeGreaterThan(40);
    } finally {
      await bringBack();
    }
    await eventually(async () => expect(countIn(await addToAll("e"))).toBe(100));
    expect(await Array.fromAsync(store.entries())).not.toHaveLength(0);
    for (const id of ids) expect((await store.list("kind", id))[0]).toBe("a");
  }

  test("one master is killed", () =>
    expectToLive(async (node) => {
      await node.kill();
      return () => node.start();
    }));

  test("one master hangs", () =>
    expectToLive(async (node) => {
      node.pause();
      return async () => node.resume();
    }));

  test("several add the same at once: each name is there once, in one order for all", async () => {
    await using other = await openFeatureStore(cluster.url);
    await using another = await openFeatureStore(cluster.url);
    const stores = [store, other, another];
    const features = Array.from({ length: 40 }, (_, index) => String(index));
    const had = await Promise.all(
      stores.flatMap((one) =>
        ids.slice(0, 20).flatMap((id) => features.map((feature) => one.change("kind", id, [add(feature)]))),
      ),
    );
    expect(had.filter((outcome) => outcome?.[0] === false)).toHaveLength(20 * 40);
    for (const id of ids.slice(0, 20)) {
      const lists = await Promise.all(stores.map((one) => one.list("kind", id)));
      expect(lists[0]?.toSorted()).toEqual(features.toSorted());
      expect(lists).toEqual([lists[0], lists[0], lists[0]]);
    }
    const feeds = await Promise.all(stores.map((one) => one.changes(undefined, 1000)));
    expect(feeds[0]).toHaveLength(20 * 40);
    expect(feeds).toEqual([feeds[0], feeds[0], feeds[0]]);
  });

  /** Moves the part of some resource from the first node to the second; asks `meanwhile`, and tells which resource. */
  async function moveSlot(meanwhile: (id: string) => Promise<void> = async () => {}): Promise<string> {
    await using opened = new AsyncDisposableStack();
    const clients = await Promise.all(
      cluster.nodes.map(async ({ url }) =>
        opened.adopt(await createClient({ url }).connect(), async (client) => client.destroy()),
      ),
    );
    const [from, to] = clients as [(typeof clients)[0], (typeof clients)[0]];
    const [key = ""] = await from.keys("features:*:of:*");
    const id = key.split("/").at(-1) as string;
    const slot = String(await from.sendCommand(["CLUSTER", "KEYSLOT", key]));
    const [fromId, toId] = await Promise.all([from, to].map((one) => one.sendCommand(["CLUSTER", "MYID"])));
    await to.sendCommand(["CLUSTER", "SETSLOT", slot, "IMPORTING", String(fromId)]);
    await from.sendCommand(["CLUSTER", "SETSLOT", slot, "MIGRATING", String(toId)]);
    const keys = await from.keys(`${key.slice(0, key.indexOf("}"))}}*`);
    const { port } = new URL(cluster.nodes[1]?.url ?? "");
    await from.sendCommand(["MIGRATE", "127.0.0.1", port, "", "0", "5000", "KEYS", ...keys]);
    await meanwhile(id);
    for (const client of [to, from, clients[2] as typeof to]) {
      await client.sendCommand(["CLUSTER", "SETSLOT", slot, "NODE", String(toId)]);
    }
    return id;
  }

  test("a slot moves from one master to another", async () => {
    await addToAll("a");
    const id = await moveSlot(async (moving) => expect(await store.list("kind", moving)).toEqual(["a"]));
    expect(await store.change("kind", id, [add("b")])).toEqual([false]);
    expect(countIn(await addToAll("c"))).toBe(100);
    expect(await store.list("kind", id)).toEqual(["a", "b", "c"]);
  });

  test("a slot has moved away from a master that is killed", async () => {
    await addToAll("a");
    const id = await moveSlot();
    await cluster.nodes[0]?.kill();
    try {
      await expect(store.list("kind", id)).rejects.toThrow("the store cannot be reached");
      await eventually(async () => expect(await store.list("kind", id)).toEqual(["a"]));
      expect(await store.change("kind", id, [add("b")])).toEqual([false]);
    } finally {
      await cluster.nodes[0]?.start();
    }
    await eventually(async () => expect(countIn(await addToAll("e"))).toBe(100));
  });

  test("one server and a cluster are not taken for each other", async () => {
    const { host } = new URL(cluster.nodes[0]?.url ?? "");
    await expect(openFeatureStore(`redis://${host}`)).rejects.toThrow("it belongs to a cluster");
    await using server = await startRedis();
    await expect(openFeatureStore(server.url.replace("redis:", "redis+cluster:"))).rejects.toThrow(
      "ERR This instance has cluster support disabled",
    );
  });

  test("is found through any of its nodes, when the others named are not there", async () => {
    const nobody = `127.0.0.1:${await freePort()}`;
    const { host } = new URL(cluster.nodes[2]?.url ?? "");
    await using other = await openFeatureStore(`redis+cluster://${nobody},${host}/?changes=10`);
    await store.change("kind", "1", [add("a")]);
    expect(await other.list("kind", "1")).toEqual(["a"]);
  });

  test("lets in who has the password, at each of its nodes", async () => {
    const commands = "+info +cluster|slots +hget";
    await Promise.all(
      cluster.nodes.map(({ url }) => tell(url, `ACL SETUSER someone on >s3cret ~features:* ${commands}`)),
    );
    const urlOf = (secret: string) => cluster.url.replace("//", `//someone:${secret}@`);
    await using other = await openFeatureStore(urlOf("s3cret"));
    for (const id of ids) {
      expect(await other.has("kind", id, "a")).toBe(false);
      await expect(other.list("kind", id)).rejects.toThrow(/^the store returned an error: NOPERM/);
    }
    await expect(openFeatureStore(urlOf("hunter2"))).rejects.toThrow(
      /cannot be used: WRONGPASS(?!.*hunter2)/,
    );
  });
});
