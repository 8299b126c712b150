import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { createClient } from "@redis/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { isOpensslInstalled, makeCertificate } from "../../../testing/certificate.ts";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { freePort } from "../../../testing/free-port.ts";
import {
  isRedisInstalled,
  startRedis,
  startRedisCluster,
  type TestCluster,
} from "../../../testing/servers/redis.ts";
import { exchangeBytes, type TestServer } from "../../../testing/servers/server.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import {
  add,
  calls,
  expectFailures,
  featuresOf,
  names,
  passTime,
  remove,
  stopClock,
} from "./new-store.fixture.ts";
import { type FeatureStore, openFeatureStore, StoreFailure } from "./store.ts";

const execute = (url: string, command: string) => exchangeBytes(url, `${command}\r\n`, "+OK");

/** Runs a program that opens the store and uses it. Resolves with its output. */
async function runWith(url: string, environment: Record<string, string> = {}): Promise<string> {
  const store = fileURLToPath(new URL("store.ts", import.meta.url));
  const program = `
    const { openFeatureStore } = await import(${JSON.stringify(store)});
    try {
      const store = await openFeatureStore(process.argv[1]);
      await store.change("kind", "1", [{ type: "add", feature: "a" }]);
      console.log("lists", ...(await store.list("kind", "1")).map(({ feature }) => feature));
      await store[Symbol.asyncDispose]();
    } catch (error) {
      console.log(error.message);
    }`;
  const args = ["--input-type=module", "--eval", program, url];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...environment },
    timeout: testWaitMaxMs,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  expect(code).toBe(0);
  return output.trim();
}

describeIfAvailable("Redis", isRedisInstalled())("a store in Redis", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  beforeEach(() => execute(server.url, "FLUSHALL"));
  const opened = (parameters = "") => openFeatureStore(server.url + parameters);
  /** A store in which the resource 1 has a feature. */
  async function openedWith(feature: string) {
    const store = await opened();
    await store.change("kind", "1", [add(feature)]);
    return store;
  }
  /** All keys of the server. */
  async function keys(): Promise<string[]> {
    const client = await createClient({ url: server.url }).connect();
    const found = await client.keys("*");
    client.destroy();
    return found;
  }

  test("has every answered change after a kill and a restart", async () => {
    await using store = await openedWith("a");
    const outcomes = Promise.allSettled(names(300).map((id) => store.change("kind", id, [add("b")])));
    await server.kill();
    const answered: string[] = [];
    for (const [id, outcome] of (await outcomes).entries()) {
      if (outcome.status === "fulfilled") answered.push(String(id));
      else expect(outcome.reason).toBeInstanceOf(StoreFailure);
    }
    await expectFailures(store, "the store cannot be reached");
    await server.start();
    expect((await featuresOf(store, "kind", "1"))[0]).toBe("a");
    for (const id of answered) expect(await store.has("kind", id, ["b"])).toEqual([true]);
    expect(await store.change("kind", "1", [add("c")])).toEqual({ had: [false] });
  });

  test("times out while Redis is suspended, and answers again when it continues", async () => {
    await using store = await openedWith("a");
    server.pause();
    try {
      await expectFailures(store, "the store did not respond in time");
      // Fails in the same way over a new connection.
      await expectFailures(store, "the store did not respond in time");
    } finally {
      server.resume();
    }
    await eventually(async () => expect(await store.has("kind", "1", ["a"])).toEqual([true]));
  });

  test("times out on a connection that becomes silent, and continues over a new one", async () => {
    const sockets: Socket[] = [];
    const proxy = createServer((socket) => {
      const { port } = new URL(server.url);
      const upstream = connect(Number(port), "127.0.0.1");
      socket.pipe(upstream).pipe(socket);
      sockets.push(socket, upstream);
      for (const one of [socket, upstream]) one.on("error", () => {});
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const { port } = proxy.address() as { port: number };
    await using store = await openFeatureStore(`redis://127.0.0.1:${port}`);
    await store.change("kind", "1", [add("a")]);
    for (const socket of sockets) socket.unpipe().pause();
    await expect(featuresOf(store, "kind", "1")).rejects.toThrow("the store did not respond in time");
    await eventually(async () => expect(await featuresOf(store, "kind", "1")).toEqual(["a"]));
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });

  test("continues after a restart of Redis between two calls", async () => {
    await using store = await openedWith("a");
    await server.restart();
    expect(await featuresOf(store, "kind", "1")).toEqual(["a"]);
  });

  test("sends the script again if Redis does not have it", async () => {
    await using store = await openedWith("a");
    await execute(server.url, "SCRIPT FLUSH");
    expect(await store.change("kind", "1", [add("a")])).toEqual({ had: [true] });
  });

  test("reports an unknown command without its arguments", async () => {
    await using another = await startRedis("--rename-command", "HSCAN", "");
    await using store = await openFeatureStore(another.url);
    await expect(featuresOf(store, "kind", "1")).rejects.toThrow(
      /^the store returned an error: ERR unknown command 'HSCAN'$/,
    );
  });

  test("returns undefined for a cursor from before Redis was emptied, or a part of it", async () => {
    await using store = await openedWith("a");
    const key = (await keys()).find((name) => name.includes(":of:")) ?? "";
    const part = key.replace(/:of:.*/, ":");
    for (const isWhole of [true, false]) {
      const cursor = await store.newest();
      const [first] = (await store.changes(undefined, 1)) ?? [];
      const ofPart = (await keys()).filter((name) => name.startsWith(part));
      expect(ofPart).toContain(key);
      if (isWhole) await execute(server.url, "FLUSHALL");
      else await exchangeBytes(server.url, `DEL ${ofPart.join(" ")}\r\n`, `:${ofPart.length}`);
      expect(await store.changes(cursor, 10)).toBe(undefined);
      await store.change("kind", "1", [add("a"), add("b"), add("c")]);
      for (const old of [cursor, first?.cursor]) expect(await store.changes(old, 10)).toBe(undefined);
      expect(await store.changes(await store.newest(), 10)).toEqual([]);
    }
  });

  test("returns undefined for an invalid cursor that resembles a valid one", async () => {
    await using store = await openedWith("a");
    const cursor = await store.newest();
    expect(cursor).toMatch(/^[\w.~-]+$/);
    const [log = "", ...positions] = cursor.split(".");
    const invalid = [
      [log, ...positions.slice(1)],
      [log, ...positions, "0"],
      [log, ...positions.map((position) => `0${position}`)],
      [log, ...positions.map((position) => `${position}.`)],
      [log, ...positions.map(() => "-1")],
      [log, ...positions.map(() => "2")],
      [`${log}0`, ...positions],
      ["", ...positions],
    ];
    for (const parts of invalid) expect(await store.changes(parts.join("."), 10)).toBe(undefined);
  });

  test("rejects additions only when Redis is out of memory", async () => {
    await using store = await opened();
    await store.change("kind", "1", [add("a"), add("b")]);
    const cursor = await store.newest();
    await execute(server.url, "CONFIG SET maxmemory 1");
    try {
      const addition = store.change("kind", "1", [add("c")]);
      await expect(addition).rejects.toThrow(/^the store returned an error: OOM/);
      await expect(addition).rejects.toBeInstanceOf(StoreFailure);
      expect(await featuresOf(store, "kind", "1")).toEqual(["a", "b"]);
      expect(await store.change("kind", "1", [remove("a")])).toEqual({ had: [true] });
      expect(await store.changes(cursor, 10)).toHaveLength(1);
    } finally {
      await execute(server.url, "CONFIG SET maxmemory 0");
    }
    expect(await Array.fromAsync(store.entries())).toEqual([{ resource: "kind", id: "1", feature: "b" }]);
  });

  test("reports a key of another type and a read-only Redis", async () => {
    await using store = await openedWith("a");
    const key = (await keys()).find((name) => name.includes(":of:"));
    await execute(server.url, `SET ${key} text`);
    await expect(featuresOf(store, "kind", "1")).rejects.toThrow(/^the store returned an error: WRONGTYPE/);
    await execute(server.url, `REPLICAOF 127.0.0.1 ${await freePort()}`);
    try {
      await expect(store.change("kind", "2", [add("a")])).rejects.toThrow(
        /^the store returned an error: READONLY/,
      );
    } finally {
      await execute(server.url, "REPLICAOF NO ONE");
    }
  });

  test("is separate in each database of a Redis", async () => {
    await using one = await opened("/1");
    await using two = await opened("/2?changes=10");
    await one.change("kind", "1", [add("a")]);
    expect(await featuresOf(two, "kind", "1")).toEqual([]);
    expect(await two.changes(await one.newest(), 10)).toBe(undefined);
  });

  test("requires the right password, and does not repeat a wrong one in the error", async () => {
    const password = "p@ss:wörd/,?#%";
    const commands =
      "+eval +evalsha +get +set +scan +hget +hmget +hgetall +hlen +hscan +hset +hdel +zadd +zrem +zrangebyscore +zrangebylex +zcard +xadd +xrange +xrevrange";
    await execute(server.url, latin1(`ACL SETUSER someöne on >${password} ~features:* ${commands}`));
    const { host } = new URL(server.url);
    const urlOf = (secret: string) =>
      `redis://${encodeURIComponent("someöne")}:${encodeURIComponent(secret)}@${host}`;
    await using store = await openFeatureStore(urlOf(password));
    for (const call of Object.values(calls)) await call(store);
    expect(await featuresOf(store, "kind", "1")).toEqual(["lost"]);
    const opening = openFeatureStore(urlOf("hunter2"));
    await expect(opening).rejects.toThrow(`the Redis at ${host} cannot be used: WRONGPASS`);
    await expect(opening).rejects.not.toThrow("hunter2");
  });

  test("cannot be opened if nothing listens at its address", async () => {
    const port = await freePort();
    expect(await runWith(`redis://user:hunter2@127.0.0.1:${port}`)).toBe(
      `the Redis at 127.0.0.1:${port} cannot be used: connect ECONNREFUSED 127.0.0.1:${port}`,
    );
    const cluster = `redis+cluster://user:hunter2@127.0.0.1:${port},127.0.0.1:${port + 1}`;
    expect(await runWith(cluster)).toMatch(
      /^the Redis at 127.0.0.1:\d+, 127.0.0.1:\d+ cannot be used: connect ECONNREFUSED/,
    );
  });

  test("cannot be opened while Redis is suspended", async () => {
    server.pause();
    try {
      const { host } = new URL(server.url);
      expect(await runWith(server.url)).toBe(
        `the Redis at ${host} cannot be used: the store did not respond in time`,
      );
    } finally {
      server.resume();
    }
  });

  test("keeps no key of a removed feature nor of one that has expired", async () => {
    await using store = await opened();
    stopClock();
    const features = ["x", "y/z", "%2F", "{0/16}"];
    for (const id of ["1", "2", "💷", "a/b", "\uffee"]) {
      const expiring = features.map((feature, index) => add(feature, Date.now() + 10 * index));
      await store.change("kind", id, expiring);
      await store.change("kind", id, [add("x", Date.now() + 5), add("y/z"), add("%2F", Date.now() + 5)]);
      await store.change("kind", id, [remove("y/z"), remove("{0/16}")]);
    }
    passTime(5);
    while (await store.expire());
    expect((await keys()).filter((key) => !/:(changes|log|indexed)$/.test(key))).toEqual([]);
  });

  test("finds the features in use of a store that an earlier release has written", async () => {
    const resources = names(40);
    {
      await using store = await opened();
      for (const id of resources) await store.change("kind", id, [add("a"), add(`of ${id}/{1}`)]);
    }
    for (const key of (await keys()).filter((one) => /:(used:.*|indexed)$/.test(one)))
      await exchangeBytes(server.url, `DEL ${key}\r\n`, ":1");
    const inUse = ["a", ...resources.map((id) => `of ${id}/{1}`)].sort();
    for (const _opening of ["completes the index", "uses it"]) {
      await using store = await opened();
      expect(await store.featuresInUse("kind", 100)).toEqual(inUse);
      expect(await store.entriesOf("kind", undefined, 1000)).toHaveLength(80);
      expect(await store.count("kind", "a")).toBe(40);
    }
  });

  test("drops the due expiry of a feature whose key was deleted by hand", async () => {
    await using store = await opened();
    stopClock();
    await store.change("kind", "1", [add("a", Date.now() + 1)]);
    const key = (await keys()).find((name) => name.includes(":of:"));
    await exchangeBytes(server.url, `DEL ${key}\r\n`, ":1");
    passTime(1);
    await store.newest();
    expect((await keys()).filter((name) => name.endsWith(":due"))).toEqual([]);
  });

  test("returns ids in pages, in the order of their bytes, also those with a common prefix", async () => {
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

  test("returns every id, and records in order, when most are in one part", async () => {
    await using store = await opened();
    const all = names(1200);
    await Promise.all(all.map((id) => store.change("kind", id, [add("y")])));
    const byPart = Map.groupBy(await keys(), (key) => key.replace(/:of:.*/, ""));
    const ofOne = [...byPart.values()].find(({ length }) => length > 60)?.map((key) => key.split("/").at(-1));
    const inOne = all.filter((id) => ofOne?.includes(id));
    expect(inOne.length).toBeGreaterThan(60);
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

  test("finds the ids of a feature among 100,000 expired ones with few commands", async () => {
    await using store = await opened();
    const ids = ["1", "5000", "\uffee"];
    await Promise.all(ids.map((id) => store.change("kind", id, [add("x")])));
    const client = createClient({ url: server.url });
    await client.connect();
    const expired = Array.from({ length: 6250 }, (_, index) => `${index}x\0${Date.now() - index}`);
    for (let part = 0; part < 16; part++) {
      const members = expired.flatMap((member) => ["0", `${part}-${member}`]);
      await client.sendCommand(["ZADD", `features:{${part}/16}:with:kind/x`, ...members]);
    }
    const countCommands = async () =>
      [...(await client.info("commandstats")).matchAll(/calls=(\d+)/g)].reduce(
        (sum, [, calls]) => sum + Number(calls),
        0,
      );
    const before = await countCommands();
    expect(await store.idsWith("kind", "x", undefined, 1000)).toEqual(ids);
    expect((await countCommands()) - before).toBeLessThan(500);
    const between = await countCommands();
    expect(await store.idsWith("kind", "x", "1", 1)).toEqual(["5000"]);
    expect((await countCommands()) - between).toBeLessThan(500);
    client.destroy();
  });
});

/** UTF-8 text for `exchangeBytes`, which sends each character as one byte. */
const latin1 = (text: string) => Buffer.from(text).toString("latin1");

describeIfAvailable("Redis and openssl", isRedisInstalled() && isOpensslInstalled())(
  "a store in a Redis with TLS",
  () => {
    test("can be opened only if its certificate is trusted", async () => {
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
      // The certificate is for the address, not for the host name.
      expect(await runWith(`rediss://localhost:${port}`, trusting)).toContain("does not match certificate");
      expect(await runWith(server.url.replace("redis:", "rediss:"))).toContain("cannot be used");
    });
  },
);

describeIfAvailable("Redis", isRedisInstalled())("a store in a Redis Cluster", () => {
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
  beforeEach(() => Promise.all(cluster.nodes.map(({ url }) => execute(url, "FLUSHALL"))));

  const ids = names(100);
  const addToAll = (feature: string) =>
    Promise.allSettled(ids.map((id) => store.change("kind", id, [add(feature)])));
  const countIn = (outcomes: PromiseSettledResult<unknown>[]) =>
    outcomes.filter(({ status }) => status === "fulfilled").length;

  /** Expects that the parts of a node fail within the limit while it is down, and that all others continue. */
  async function expectPartialFailure(takeDown: (node: TestServer) => Promise<() => Promise<void>>) {
    const node = cluster.nodes[1] as TestServer;
    expect(countIn(await addToAll("a"))).toBe(100);
    const bringUp = await takeDown(node);
    try {
      for (const feature of ["b", "c", "d"]) {
        const outcomes = await addToAll(feature);
        const failures = outcomes.filter((outcome) => outcome.status === "rejected");
        for (const { reason } of failures) expect(reason).toBeInstanceOf(StoreFailure);
        expect(failures.length).toBeGreaterThan(0);
        expect(failures.length).toBeLessThan(60);
        await expect(store.newest()).rejects.toBeInstanceOf(StoreFailure);
      }
      // A new client uses the other nodes.
      await using other = await openFeatureStore(cluster.url);
      const outcomes = await Promise.allSettled(ids.map((id) => other.has("kind", id, ["a"])));
      expect(countIn(outcomes)).toBeGreaterThan(40);
    } finally {
      await bringUp();
    }
    await eventually(async () => expect(countIn(await addToAll("e"))).toBe(100));
    // A scan ends with an error if the client is replaced meanwhile.
    await eventually(async () => expect(await Array.fromAsync(store.entries())).not.toHaveLength(0));
    for (const id of ids) expect((await featuresOf(store, "kind", id))[0]).toBe("a");
  }

  test("continues on the other masters while one is killed", () =>
    expectPartialFailure(async (node) => {
      await node.kill();
      return () => node.start();
    }));

  test("continues on the other masters while one is suspended", () =>
    expectPartialFailure(async (node) => {
      node.pause();
      return async () => node.resume();
    }));

  /**
   * Moves the slot of one resource from the first node to the second. Calls `meanwhile` when the keys have moved and the
   * slot has not. Resolves with the id of the resource.
   */
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

  test("follows a slot that moves to another master", async () => {
    await addToAll("a");
    const id = await moveSlot(async (moving) =>
      expect(await featuresOf(store, "kind", moving)).toEqual(["a"]),
    );
    expect(await store.change("kind", id, [add("b")])).toEqual({ had: [false] });
    expect(countIn(await addToAll("c"))).toBe(100);
    expect(await featuresOf(store, "kind", id)).toEqual(["a", "b", "c"]);
  });

  test("finds a slot that moved before its old master was killed", async () => {
    await addToAll("a");
    const id = await moveSlot();
    await cluster.nodes[0]?.kill();
    try {
      await expect(featuresOf(store, "kind", id)).rejects.toThrow("the store cannot be reached");
      await eventually(async () => expect(await featuresOf(store, "kind", id)).toEqual(["a"]));
      expect(await store.change("kind", id, [add("b")])).toEqual({ had: [false] });
    } finally {
      await cluster.nodes[0]?.start();
    }
    await eventually(async () => expect(countIn(await addToAll("e"))).toBe(100));
  });

  test("cannot be opened with the URL of a single server, nor a single server with that of a cluster", async () => {
    const { host } = new URL(cluster.nodes[0]?.url ?? "");
    await expect(openFeatureStore(`redis://${host}`)).rejects.toThrow("it is a node of a cluster");
    await using server = await startRedis();
    await expect(openFeatureStore(server.url.replace("redis:", "redis+cluster:"))).rejects.toThrow(
      "ERR This instance has cluster support disabled",
    );
  });

  test("can be opened through any of its nodes if the others in the URL are down", async () => {
    const unused = `127.0.0.1:${await freePort()}`;
    const { host } = new URL(cluster.nodes[2]?.url ?? "");
    await using other = await openFeatureStore(`redis+cluster://${unused},${host}/?changes=10`);
    await store.change("kind", "1", [add("a")]);
    expect(await featuresOf(other, "kind", "1")).toEqual(["a"]);
  });

  test("sends the password to each of its nodes", async () => {
    const commands = "+info +cluster|slots +hmget";
    await Promise.all(
      cluster.nodes.map(({ url }) => execute(url, `ACL SETUSER someone on >s3cret ~features:* ${commands}`)),
    );
    const urlOf = (secret: string) => cluster.url.replace("//", `//someone:${secret}@`);
    await using other = await openFeatureStore(urlOf("s3cret"));
    for (const id of ids) {
      expect(await other.has("kind", id, ["a"])).toEqual([false]);
      await expect(featuresOf(other, "kind", id)).rejects.toThrow(/^the store returned an error: NOPERM/);
    }
    await expect(openFeatureStore(urlOf("hunter2"))).rejects.toThrow(
      /cannot be used: WRONGPASS(?!.*hunter2)/,
    );
  });
});
