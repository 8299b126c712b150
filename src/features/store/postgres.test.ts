import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { request } from "undici";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { freePort } from "../../../testing/free-port.ts";
import { seeded } from "../../../testing/random.ts";
import { run } from "../../../testing/run.ts";
import { isPgbouncerInstalled, startPgbouncer } from "../../../testing/servers/pgbouncer.ts";
import { isPostgresInstalled, startPostgres, startReplicaOf } from "../../../testing/servers/postgres.ts";
import type { TestServer } from "../../../testing/servers/server.ts";
import { newPostgres } from "../../database/new-database.fixture.ts";
import { expectFailures, featuresOf } from "./new-store.fixture.ts";
import {
  type Entry,
  type FeatureChange,
  type FeatureStore,
  type History,
  openFeatureStore,
  StoreFailure,
} from "./store.ts";

const add = (feature: string, expiresAt?: number): FeatureChange => ({ type: "add", feature, expiresAt });
const remove = (feature: string): FeatureChange => ({ type: "remove", feature });

/** Runs a statement on a server. */
async function runOn({ url }: { url: string }, statement: string): Promise<pg.QueryResult> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Starts the feature storage, and the ledger if it has a database, in a process. */
async function startProcess(storeUrl: string, databaseUrl?: string) {
  const [FEATURES_PORT, LEDGER_PORT] = [String(await freePort()), String(await freePort())];
  const ledger = databaseUrl && { DATABASE_URL: databaseUrl, QUEUE_URL: "memory:", LEDGER_PORT };
  const started = run("src/main.ts", {
    args: ledger ? [] : ["features"],
    env: { FEATURES_STORE_URL: storeUrl, FEATURES_PORT, ...ledger },
  });
  await eventually(() =>
    expect(started.output().split("Server listening")).toHaveLength(databaseUrl ? 3 : 2),
  );
  const features = `http://127.0.0.1:${FEATURES_PORT}/features/customer`;
  return { ...started, features, ledger: `http://127.0.0.1:${LEDGER_PORT}` };
}

async function statusOf(url: string, method: "GET" | "POST" = "GET"): Promise<number> {
  const { statusCode, body } = await request(url, { method });
  await body.dump();
  return statusCode;
}

describeIfAvailable("PostgreSQL", isPostgresInstalled())("a store in PostgreSQL", () => {
  const opened = new AsyncDisposableStack();
  let server: TestServer;
  beforeAll(async () => {
    server = opened.use(await startPostgres());
  });
  afterAll(() => opened.disposeAsync());

  test("has every answered change after a kill and a restart", async () => {
    await using own = await startPostgres();
    await using store = await openFeatureStore(own.url);
    await store.change("kind", "1", [add("a")]);
    await own.kill();
    await expectFailures(store, /^the store (cannot be reached|did not respond in time)$/);
    await own.start();
    await eventually(async () => expect(await featuresOf(store, "kind", "1")).toContain("a"));
    expect(await store.change("kind", "1", [add("b")])).toEqual({ had: [false] });
  });

  test("times out while PostgreSQL is suspended, and answers again when it continues", async () => {
    await using own = await startPostgres();
    await using store = await openFeatureStore(own.url);
    await store.change("kind", "1", [add("a")]);
    own.pause();
    await expectFailures(store, /^the store did not respond in time$/);
    // Fails in the same way over a new connection.
    await expectFailures(store, /^the store (did not respond in time|cannot be reached)$/);
    own.resume();
    await eventually(async () => expect(await store.has("kind", "1", ["a"])).toEqual([true]));
    await eventually(async () =>
      expect(await store.change("kind", "1", [add("a")])).toEqual({ had: [true] }),
    );
  });

  test("continues after a restart of PostgreSQL between two calls", async () => {
    await using own = await startPostgres();
    await using store = await openFeatureStore(own.url);
    await store.change("kind", "1", [add("a")]);
    await own.restart();
    await eventually(async () => expect(await featuresOf(store, "kind", "1")).toEqual(["a"]));
  });

  test("cannot be opened without a server, and states the reason without a password", async () => {
    const port = await freePort();
    await expect(openFeatureStore(`postgres://user:secret@127.0.0.1:${port}/features`)).rejects.toThrow(
      new RegExp(`^the PostgreSQL at 127\\.0\\.0\\.1:${port} cannot be used: [^@]*ECONNREFUSED[^@]*$`),
    );
  });

  test("reports an error of PostgreSQL without the statement", async () => {
    await using made = await newPostgres(server.url);
    await using store = await openFeatureStore(made.url);
    await runOn(made, "alter table feature_storage.feature rename column id to other");
    await expect(store.list("kind", "1")).rejects.toThrow(/^the store returned an error \(SQLSTATE 42703\)$/);
  });

  test("is created once if many open it at the same time", async () => {
    await using made = await newPostgres(server.url);
    const stores = await Promise.all(Array.from({ length: 8 }, () => openFeatureStore(made.url)));
    for (const store of stores) await store.change("kind", "1", [add("a")]);
    expect(await stores[0]?.changes(undefined, 10)).toHaveLength(1);
    for (const store of stores) await store[Symbol.asyncDispose]();
  });

  test("is not opened if a newer version has changed the tables", async () => {
    await using made = await newPostgres(server.url);
    await (await openFeatureStore(made.url))[Symbol.asyncDispose]();
    await runOn(made, "insert into feature_storage.migration (name) values ('9999-later.sql')");
    await expect(openFeatureStore(made.url)).rejects.toThrow(
      "has the migrations 9999-later.sql, which this version does not know",
    );
  });

  test("needs no right to create anything once it is there", async () => {
    await using made = await newPostgres(server.url);
    await (await openFeatureStore(made.url))[Symbol.asyncDispose]();
    await runOn(
      made,
      `create role limited login; grant usage on schema feature_storage to limited;
      grant select, insert, update, delete on all tables in schema feature_storage to limited`,
    );
    const url = new URL(made.url);
    url.username = "limited";
    await using store = await openFeatureStore(url.href);
    expect(await store.change("kind", "1", [add("a")])).toEqual({ had: [false] });
    expect(await featuresOf(store, "kind", "1")).toEqual(["a"]);
  });

  test("makes concurrent changes of many resources in few transactions", async () => {
    await using made = await newPostgres(server.url);
    await using store = await openFeatureStore(made.url);
    await store.change("kind", "first", [add("a")]);
    const transactions = async () => {
      const { rows } = await runOn(made, "select pg_snapshot_xmax(pg_current_snapshot())::text::int as next");
      return rows[0].next as number;
    };
    const before = await transactions();
    const ids = Array.from({ length: 400 }, (_, index) => String(index));
    await Promise.all(ids.map((id) => store.change("kind", id, [add("a")])));
    expect((await transactions()) - before).toBeLessThan(40);
    expect(await store.count("kind", "a")).toBe(401);
  });

  test("makes changes in a database whose default isolation is serializable", async () => {
    await using made = await newPostgres(server.url);
    const name = new URL(made.url).pathname.slice(1);
    await runOn(server, `alter database ${name} set default_transaction_isolation = serializable`);
    await using one = await openFeatureStore(made.url);
    await using other = await openFeatureStore(made.url);
    const ids = Array.from({ length: 50 }, (_, index) => String(index));
    for (const id of ids) {
      await Promise.all([one, other].map((store) => store.change("kind", id, [add("a")])));
    }
    expect(await one.count("kind", "a")).toBe(50);
    expect(await one.changes(undefined, 100)).toHaveLength(50);
  });

  test("keeps at least the newest records", async () => {
    await using made = await newPostgres(server.url);
    await using store = await openFeatureStore(`${made.url}?changes=1500`);
    const features = Array.from({ length: 900 }, (_, index) => String(index));
    for (let round = 0; round < 6; round++) {
      const type = round % 2 ? "remove" : "add";
      await store.change(
        "kind",
        "1",
        features.map((feature) => ({ type, feature })),
      );
      const kept = (await store.changes(undefined, 10_000)) ?? [];
      expect(kept.length).toBeGreaterThanOrEqual(Math.min(1500, 900 * (round + 1)));
      expect(kept.length).toBeLessThan(1500 + 1000 + 900);
    }
  });

  test("a rejected change does not affect those that are made together with it", async () => {
    await using made = await newPostgres(server.url);
    await using store = await openFeatureStore(made.url);
    const outcomes = await Promise.all([
      store.change("kind", "1", [add("a")]),
      store.change("kind", "2", [add("a")], ["other"]),
      store.change(
        "kind",
        "3",
        Array.from({ length: 1001 }, (_, index) => add(String(index))),
      ),
      store.change("kind", "1", [remove("a"), add("b")], ["a"]),
    ]);
    expect(outcomes).toEqual([
      { had: [false] },
      { rejected: "list differs" },
      { rejected: "too many features" },
      { had: [true, false] },
    ]);
  });

  test("counts exactly what has not expired, and names the features in use", async () => {
    await using made = await newPostgres(server.url);
    await using store = await openFeatureStore(made.url);
    const expiresAt = Date.now() + 1000;
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        store.change("kind", String(index), [add("a", index % 2 ? expiresAt : undefined), add("b")]),
      ),
    );
    await store.change("kind", "0", [remove("b")]);
    expect(await store.count("kind", "b")).toBe(49);
    expect(await store.count("kind", "none")).toBe(0);
    await sleep(expiresAt - Date.now() + 1);
    expect(await store.count("kind", "a")).toBe(25);
    await store.expire();
    expect(await store.count("kind", "a")).toBe(25);
    expect(await store.featuresInUse("kind", 10)).toEqual(["a", "b"]);
    expect(await store.featuresInUse("kind", 1)).toEqual(["a"]);
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => store.change("kind", String(index), [remove("b")])),
    );
    expect(await store.featuresInUse("kind", 10)).toEqual(["a"]);
  });

  test("a suspended process does not block the changes of another", async () => {
    await using made = await newPostgres(server.url);
    const [one, other] = await Promise.all([startProcess(made.url), startProcess(made.url)]);
    let isOver = false;
    let count = 0;
    const adding = Array.from({ length: 16 }, async (_, id) => {
      while (!isOver) await statusOf(`${one.features}/${id}/${count++ % 900}`, "POST").catch(() => {});
    });
    for (let round = 0; round < 30; round++) {
      await sleep(Math.random() * 30);
      one.child.kill("SIGSTOP");
      expect(await statusOf(`${other.features}/other/${round}`, "POST")).toBe(201);
      one.child.kill("SIGCONT");
    }
    isOver = true;
    await Promise.all(adding);
    for (const { child } of [one, other]) child.kill("SIGTERM");
    expect((await other.exit).code).toBe(0);
  });

  test("shares a database with the ledger", async () => {
    await using made = await newPostgres(server.url);
    const services = await startProcess(made.url, made.url);
    expect(await statusOf(`${services.features}/1/a`, "POST")).toBe(201);
    expect(await statusOf(`${services.ledger}/healthcheck`)).toBe(200);
    services.child.kill("SIGTERM");
    expect((await services.exit).code).toBe(0);
    await using store = await openFeatureStore(made.url);
    expect(await featuresOf(store, "customer", "1")).toEqual(["a"]);
    const { rows } = await runOn(made, "select to_regclass('transaction')::text as name");
    expect(rows).toEqual([{ name: "transaction" }]);
  });

  test("of several hosts it is in the primary, also after a failover", async () => {
    await using primary = await startPostgres();
    await using standby = await startReplicaOf(primary);
    const hosts = [standby, primary].map(({ url }) => new URL(url).host);
    const warnings: string[] = [];
    await using store = await openFeatureStore(`postgres://postgres@${hosts.join()}/postgres`, (text) =>
      warnings.push(text),
    );
    await store.change("kind", "1", [add("a")]);
    await eventually(async () =>
      expect((await runOn(standby, "select from feature_storage.feature")).rowCount).toBe(1),
    );
    await primary.kill();
    await expect(store.change("kind", "1", [add("lost")])).rejects.toThrow(StoreFailure);
    await runOn(standby, "select pg_promote()");
    await eventually(async () =>
      expect(await store.change("kind", "1", [add("b")])).toEqual({ had: [false] }),
    );
    expect(await featuresOf(store, "kind", "1")).toEqual(["a", "b"]);
    expect(warnings).toEqual([`the database is now ${hosts[0]}, before it was ${hosts[1]}`]);
  });
});

describeIfAvailable("PostgreSQL", isPostgresInstalled())("a store in PostgreSQL with keep=all", () => {
  const opened = new AsyncDisposableStack();
  let server: TestServer;
  beforeAll(async () => {
    server = opened.use(await startPostgres());
  });
  afterAll(() => opened.disposeAsync());
  afterEach(() => vi.useRealTimers());

  async function openHistory(url: string): Promise<FeatureStore & { history: History }> {
    const store = await openFeatureStore(`${url}?keep=all`);
    if (!store.history) throw new Error("no history");
    return { ...store, history: store.history };
  }

  test("has every past state, however many changes are after it", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
    await using made = await newPostgres(server.url);
    await using store = await openHistory(made.url);
    const random = seeded(7);
    const long = "x".repeat(600);
    const ids = ["1", "2", `${long}3`];
    const features = ["a", "b", "c", "d", `${long}e`];
    const states = new Map<number, Entry[][]>();
    for (let step = 0; step < 400; step++) {
      const now = Date.now() + random.integer(0, 3);
      vi.setSystemTime(now);
      const changes = Array.from({ length: random.integer(1, 3) }, () => {
        const feature = random.pick(features);
        return random.chance(0.4)
          ? remove(feature)
          : add(feature, random.chance(0.5) ? now + random.integer(1, 30) : undefined);
      });
      await store.change("kind", random.pick(ids), changes);
      if (random.chance(0.1)) await store.expire();
      states.set(now, await Promise.all(ids.map((id) => store.list("kind", id))));
    }
    const { rows } = await runOn(made, "select count(*)::int as lists from feature_storage.feature_list");
    expect(rows[0].lists).toBeGreaterThan(3);
    for (const [at, lists] of states) {
      expect(await Promise.all(ids.map((id) => store.history.list("kind", id, at)))).toEqual(lists);
      const names = lists.map((list) => list.map(({ feature }) => feature));
      for (const [index, id] of ids.entries()) {
        expect(await store.history.has("kind", id, features, at)).toEqual(
          features.map((feature) => names[index]?.includes(feature)),
        );
      }
      const [feature = ""] = features;
      const found: string[] = [];
      for (let after: string | undefined; ; ) {
        const page = await store.history.idsWith("kind", feature, at, after, 1);
        found.push(...page.ids);
        if (page.next === undefined) break;
        after = page.next;
      }
      expect(found.sort()).toEqual(ids.filter((_, index) => names[index]?.includes(feature)).sort());
    }
    expect(await store.history.list("kind", "1", 999_999)).toEqual([]);
    expect(await store.history.has("kind", "1", ["a"], 999_999)).toEqual([false]);

    const feed = (await store.changes(undefined, 10_000)) ?? [];
    const own = feed.filter(({ record }) => record.id === "1");
    expect(await store.history.changes("kind", "1", undefined, 10_000)).toEqual(own);
    expect(await store.history.changes("kind", "1", own[9]?.cursor, 5)).toEqual(own.slice(10, 15));
    expect(await store.history.changes("kind", "1", "unknown-1", 5)).toBe(undefined);
    expect(await store.history.changes("kind", "none", undefined, 5)).toEqual([]);
  });

  test("the records of a resource do not go back in time if a clock does", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 2_000_000 });
    await using made = await newPostgres(server.url);
    await using store = await openHistory(made.url);
    await store.change("kind", "1", [add("a")]);
    vi.setSystemTime(1_999_000);
    await store.change("kind", "1", [add("b", 1_999_500)]);
    vi.setSystemTime(2_000_100);
    await store.change("kind", "1", [remove("b"), add("c")]);
    const records = (await store.history.changes("kind", "1", undefined, 10)) ?? [];
    expect(records.map(({ record }) => [record.type, record.feature, record.at])).toEqual([
      ["added", "a", 2_000_000],
      ["added", "b", 2_000_000],
      ["expired", "b", 1_999_500],
      ["added", "c", 2_000_100],
    ]);
  });

  test("keeps all records, and a list that is shorter than the longest at each instant", async () => {
    await using made = await newPostgres(server.url);
    await using store = await openHistory(made.url);
    const all = Array.from({ length: 1000 }, (_, index) => String(index));
    await store.change(
      "kind",
      "1",
      all.map((feature) => add(feature)),
    );
    const full = Date.now();
    await sleep(2);
    await store.change("kind", "1", all.map(remove));
    expect(await store.history.list("kind", "1", full)).toHaveLength(1000);
    await sleep(2);
    expect(await store.history.list("kind", "1", Date.now())).toEqual([]);
    expect(await store.history.changes("kind", "1", undefined, 10_000)).toHaveLength(2000);
  });

  test("must be begun with it, and not be opened without it later", async () => {
    await using one = await newPostgres(server.url);
    await using other = await newPostgres(server.url);
    {
      await using store = await openFeatureStore(one.url);
      expect(store.history).toBe(undefined);
    }
    {
      // Nothing has been recorded yet.
      await using store = await openHistory(one.url);
      await store.change("kind", "1", [add("a")]);
      await using without = await openFeatureStore(other.url);
      await without.change("kind", "1", [add("a")]);
    }
    await expect(openFeatureStore(one.url)).rejects.toThrow(
      "the store was begun with keep=all, so it must be opened with it",
    );
    await expect(openHistory(other.url)).rejects.toThrow(
      "the store was begun without keep=all, so it must be opened without it",
    );
    await (await openHistory(one.url))[Symbol.asyncDispose]();
    await expect(openFeatureStore(`${one.url}?keep=all&changes=5`)).rejects.toThrow(
      "FEATURES_STORE_URL has the parameters keep and changes",
    );
    await expect(openFeatureStore(`${one.url}?keep=some`)).rejects.toThrow(
      "has a parameter keep that is not all",
    );
  });
});

const areInstalled = isPostgresInstalled() && isPgbouncerInstalled();
describeIfAvailable("PostgreSQL or PgBouncer", areInstalled)("a store behind a PgBouncer", () => {
  describe.each(["transaction", "session"])("that shares sessions by %s", (mode) => {
    test("is opened and changed by several at the same time", async () => {
      await using server = await startPostgres();
      await using pooler = await startPgbouncer(server, `pool_mode = ${mode}`, "default_pool_size = 20");
      const stores = await Promise.all([1, 2, 3].map(() => openFeatureStore(pooler.url)));
      const ids = Array.from({ length: 30 }, (_, index) => String(index));
      await Promise.all(
        stores.flatMap((store) => ids.map((id) => store.change("kind", id, [add("a"), add("b")]))),
      );
      for (const store of stores) {
        expect(await store.count("kind", "a")).toBe(30);
        expect(await featuresOf(store, "kind", "7")).toEqual(["a", "b"]);
        expect(await store.has("kind", "7", ["a", "c"])).toEqual([true, false]);
        expect(await store.changes(undefined, 100)).toHaveLength(60);
      }
      for (const store of stores) await store[Symbol.asyncDispose]();
    });
  });
});
