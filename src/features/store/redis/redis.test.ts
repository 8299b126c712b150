import { createClient } from "@redis/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { isOpensslInstalled, makeCertificate } from "../../../../testing/certificate.ts";
import { describeIfAvailable } from "../../../../testing/describe-if-available.ts";
import { eventually } from "../../../../testing/eventually.ts";
import { freePort } from "../../../../testing/free-port.ts";
import { run } from "../../../../testing/run.ts";
import {
  isRedisInstalled,
  startRedis,
  startRedisCluster,
  type TestCluster,
} from "../../../../testing/servers/redis.ts";
import { exchangeBytes, type TestServer } from "../../../../testing/servers/server.ts";
import { add, calls, featuresOf, names, passTime, remove, stopClock } from "../new-store.fixture.ts";
import { type FeatureStore, StoreFailure } from "../store.ts";
import { openFeatureStore } from "../stores.ts";

const execute = (url: string, command: string) => exchangeBytes(url, `${command}\r\n`, "+OK");

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

  /** Sends a command that changes the server, does some work, and sends the command that takes this back. */
  async function between(command: string, work: () => Promise<void>, undo: string): Promise<void> {
    await execute(server.url, command);
    try {
      await work();
    } finally {
      await execute(server.url, undo);
    }
  }

  test("rejects additions only when Redis is out of memory", async () => {
    await using store = await opened();
    await store.change("kind", "1", [add("a"), add("b")]);
    const cursor = await store.newest();
    const work = async () => {
      const addition = store.change("kind", "1", [add("c")]);
      await expect(addition).rejects.toThrow(/^the store returned an error: OOM/);
      await expect(addition).rejects.toBeInstanceOf(StoreFailure);
      expect(await featuresOf(store, "kind", "1")).toEqual(["a", "b"]);
      expect(await store.change("kind", "1", [remove("a")])).toEqual({ had: [true] });
      expect(await store.changes(cursor, 10)).toHaveLength(1);
    };
    await between("CONFIG SET maxmemory 1", work, "CONFIG SET maxmemory 0");
    expect(await Array.fromAsync(store.entries())).toEqual([{ resource: "kind", id: "1", feature: "b" }]);
  });

  test("reports an unknown command without its arguments, a key of another type, and a read-only Redis", async () => {
    const error = "^the store returned an error: ";
    await using another = await startRedis("--rename-command", "HSCAN", "");
    await using lacking = await openFeatureStore(another.url);
    await expect(featuresOf(lacking, "kind", "1")).rejects.toThrow(
      new RegExp(`${error}ERR unknown command 'HSCAN'$`),
    );
    await using store = await openedWith("a");
    const key = (await keys()).find((name) => name.includes(":of:"));
    await execute(server.url, `SET ${key} text`);
    await expect(featuresOf(store, "kind", "1")).rejects.toThrow(new RegExp(`${error}WRONGTYPE`));
    const work = () =>
      expect(store.change("kind", "2", [add("a")])).rejects.toThrow(new RegExp(`${error}READONLY`));
    await between(`REPLICAOF 127.0.0.1 ${await freePort()}`, work, "REPLICAOF NO ONE");
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
    const inUse = ["a", ...resources.map((id) => `of ${id}/{1}`)].sort();
    // The first release kept neither; a later one kept the features only.
    for (const lacking of [/:(used:.*|kinds|indexed)$/, /:kinds$/, undefined]) {
      for (const key of (await keys()).filter((one) => lacking?.test(one)))
        await exchangeBytes(server.url, `DEL ${key}\r\n`, ":1");
      for (const key of (await keys()).filter((one) => lacking && one.endsWith(":indexed")))
        await exchangeBytes(server.url, `SET ${key} 1\r\n`, "+OK");
      await using store = await opened();
      expect(await store.kinds(undefined, 100)).toEqual(["kind"]);
      expect(await store.featuresInUse("kind", undefined, 100)).toEqual(inUse);
      expect(await store.entriesOf("kind", undefined, 1000)).toHaveLength(80);
      expect(await store.counts("kind", ["a"])).toEqual([40]);
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
    expect((await store.idsWith("kind", "x", undefined, 100)).ids).toEqual(inOrder);
    for (const [index, id] of inOrder.entries()) {
      expect((await store.idsWith("kind", "x", id, 3)).ids).toEqual(inOrder.slice(index + 1, index + 4));
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
    expect((await store.idsWith("kind", "x", undefined, 60)).ids).toEqual(ids.slice(0, 60));
    expect((await store.idsWith("kind", "x", undefined, 2000)).ids).toEqual(ids);
    const changes = (await store.changes(cursor, 60)) ?? [];
    expect(changes.map(({ record }) => record.id)).toEqual(inOne.slice(0, 60));
    expect(await store.changes(changes.at(-1)?.cursor, 2000)).toHaveLength(ids.length - 60);
  });

  test("keeps the records of a resource in order when the clock is set back", async () => {
    await using store = await opened();
    stopClock();
    const features = names(4);
    for (const feature of features) {
      await store.change("kind", "1", [add(feature)]);
      passTime(-1000);
    }
    const changes = (await store.changes(undefined, 20)) ?? [];
    expect(changes.map(({ record }) => record.feature)).toEqual(features);
    const rest = (await store.changes(changes[1]?.cursor, 20)) ?? [];
    expect(rest.map(({ record }) => record.feature)).toEqual(features.slice(2));
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
    expect((await store.idsWith("kind", "x", undefined, 1000)).ids).toEqual(ids);
    expect((await countCommands()) - before).toBeLessThan(500);
    const between = await countCommands();
    expect((await store.idsWith("kind", "x", "1", 1)).ids).toEqual(["5000"]);
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
      const entry = '{"resource":"kind","id":"1","feature":"a"}';
      const importTo = (FEATURES_STORE_URL: string, env = {}) =>
        run("src/features/commands/store.ts", {
          ...{ args: ["import", "-"], input: entry, env: { FEATURES_STORE_URL, ...env } },
        }).exit;
      expect((await importTo(url, trusting)).output).toContain("1 added");
      expect((await importTo(url)).errors).toContain(
        `the Redis at 127.0.0.1:${port} cannot be used: self-signed certificate`,
      );
      // The certificate is for the address, not for the host name.
      expect((await importTo(`rediss://localhost:${port}`, trusting)).errors).toContain(
        "does not match certificate",
      );
      expect((await importTo(server.url.replace("redis:", "rediss:"))).errors).toContain("cannot be used");
    });
  },
);

describeIfAvailable("Redis and openssl", isRedisInstalled() && isOpensslInstalled())(
  "a store in a Redis Cluster with TLS",
  () => {
    test("can be opened if the certificate has the given name instead of the addresses that nodes announce", async () => {
      using certificate = makeCertificate("localhost");
      const ports = [await freePort(), await freePort(), await freePort()];
      const files = ["--tls-cert-file", certificate.certificate, "--tls-key-file", certificate.key];
      const tls = ["--tls-cluster", "yes", "--tls-auth-clients", "no", ...files];
      const authority = ["--tls-ca-cert-file", certificate.certificate];
      await using _cluster = await startRedisCluster((node) => [
        ...["--tls-port", String(ports[node]), ...tls, ...authority],
      ]);
      const url = `rediss+cluster://localhost:${ports[0]}`;
      const env = (FEATURES_STORE_URL: string) => ({
        ...{ FEATURES_STORE_URL, NODE_EXTRA_CA_CERTS: certificate.certificate },
      });
      const entries = names(30).map((id) => `{"resource":"kind","id":"${id}","feature":"a"}\n`);
      const importTo = (store: string) =>
        run("src/features/commands/store.ts", {
          ...{ args: ["import", "-"], input: entries.join(""), env: env(store) },
        }).exit;
      const { errors } = await importTo(url);
      expect(errors).toContain("127.0.0.1 is not in the cert's list");
      expect(errors).toContain("add ?server_name=NAME to the URL");
      expect((await importTo(`${url}?server_name=other`)).errors).toContain("Host: other. is not");
      expect((await importTo(`${url}?server_name=localhost`)).output).toContain("30 added");
    });
  },
);

test("the name in certificates is a parameter of URLs with TLS only, and is a host name", async () => {
  for (const [url, problem] of [
    ["redis://h?server_name=a", "has a parameter server_name that redis: does not have; known: changes"],
    ["rediss://h?server_name=a/b", "has a parameter server_name that is not a host name"],
  ] as const) {
    await expect(openFeatureStore(url)).rejects.toThrow(problem);
  }
});

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

  test.each<
    [how: string, takeDown: (node: TestServer) => Promise<void>, bringUp: (node: TestServer) => Promise<void>]
  >([
    ["killed", (node) => node.kill(), (node) => node.start()],
    ["suspended", async (node) => node.pause(), async (node) => node.resume()],
  ])("continues on the other masters while one is %s", async (_how, takeDown, bringUp) => {
    const node = cluster.nodes[1] as TestServer;
    expect(countIn(await addToAll("a"))).toBe(100);
    await takeDown(node);
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
      await bringUp(node);
    }
    await eventually(async () => expect(countIn(await addToAll("e"))).toBe(100));
    // A scan ends with an error if the client is replaced meanwhile.
    await eventually(async () => expect(await Array.fromAsync(store.entries())).not.toHaveLength(0));
    for (const id of ids) expect((await featuresOf(store, "kind", id))[0]).toBe("a");
  });

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
    const commands = "+cluster|slots +hmget";
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
