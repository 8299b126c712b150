import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeIfAvailable } from "../../../../testing/describe-if-available.ts";
import { eventually } from "../../../../testing/eventually.ts";
import { isPgbouncerInstalled, startPgbouncer } from "../../../../testing/servers/pgbouncer.ts";
import {
  isPostgresInstalled,
  runOn,
  startPostgres,
  startReplicaOf,
} from "../../../../testing/servers/postgres.ts";
import type { TestServer } from "../../../../testing/servers/server.ts";
import { startService, startServices } from "../../../../testing/services.ts";
import { openDatabase } from "../../../database/databases.ts";
import { newPostgres } from "../../../database/new-database.fixture.ts";
import { statusOf } from "../../../http/service.fixture.ts";
import { startFeatures } from "../../tests/features.fixture.ts";
import { add, featuresOf, names, remove, stopClock } from "../new-store.fixture.ts";
import { type History, StoreFailure } from "../store.ts";
import { openFeatureStore } from "../stores.ts";

describeIfAvailable("PostgreSQL", isPostgresInstalled())("a store in PostgreSQL", () => {
  const opened = new AsyncDisposableStack();
  let server: TestServer;
  beforeAll(async () => {
    server = opened.use(await startPostgres());
  });
  afterAll(() => opened.disposeAsync());

  test("reports an error of PostgreSQL without the statement", async () => {
    await using made = await newPostgres(server.url);
    await using store = await openFeatureStore(made.url);
    await runOn(made, "alter table feature_storage.feature rename column id to other");
    await expect(store.list("kind", "1")).rejects.toThrow(/^the store returned an error \(SQLSTATE 42703\)$/);
  });

  test("is created once if many open it at the same time", async () => {
    await using made = await newPostgres(server.url);
    const stores = await Promise.all(names(8).map(() => openFeatureStore(made.url)));
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

  test("records the instant at which a change is made, not that at which it was sent", async () => {
    await using made = await newPostgres(server.url);
    await using store = await openFeatureStore(`${made.url}?keep=all`);
    const { rows } = await runOn(made, "select feature_storage.clock_ms()::float8 as now");
    stopClock(rows[0].now - 60_000);
    await store.change("kind", "1", [add("a")]);
    const [entry] = (await store.changes(undefined, 10)) ?? [];
    expect(entry?.record.at).toBeGreaterThanOrEqual(rows[0].now);
  });

  test("shows no past that a change in flight can still be in, and says which one it can show", async () => {
    await using made = await newPostgres(server.url);
    await using store = await openFeatureStore(`${made.url}?keep=all`);
    await using service = await startFeatures({ store });
    const read = (at: string) => service.request("GET", `/features/kind/1?as_of=${at}`);
    const present = () => new Date().toISOString();
    await store.change("kind", "1", [add("a")]);
    expect(await read(present())).toMatchObject({ status: 200, text: '["a"]\n' });

    await using operator = await openDatabase(made.url);
    let at = "";
    let settled = "";
    await operator.transaction(async (sql) => {
      const change = { type: "add", feature: "late" };
      const request = { resource: "kind", id: "1", additions: 1, changes: [change] };
      await sql.query("select feature_storage.change($1, 0, 1000, null)", [JSON.stringify([request])]);
      at = present();
      const { status, headers, text } = await read(at);
      expect([status, headers["retry-after"]]).toEqual([503, "1"]);
      [, settled = ""] =
        /^the state at this instant can still change; that at as_of=(.*), and earlier ones, cannot\n$/.exec(
          text,
        ) ?? [];
      expect(await read(settled)).toMatchObject({ status: 200, text: '["a"]\n' });
    });
    expect(await read(at)).toMatchObject({ status: 200, text: '["a","late"]\n' });
    expect(await read(settled)).toMatchObject({ status: 200, text: '["a"]\n' });
  });

  test("rejects the cursor of a change that a failover has lost, also when another change has its number", async () => {
    await using made = await newPostgres(server.url);
    await using store = await openFeatureStore(`${made.url}?keep=all`);
    const history = store.history as History;
    await store.change("kind", "1", [add("kept")]);
    const kept = await store.newest();
    await store.change("kind", "1", [add("lost"), add("lost, too")]);
    const lost = await store.newest();
    await runOn(
      made,
      `delete from feature_storage.change where number > 1; delete from feature_storage.feature where place > 1;
      update feature_storage.feature_use set resources = 0 where feature <> 'kept'`,
    );
    for (const feature of ["other", "another", "last"]) {
      expect(await store.changes(lost, 10)).toBeUndefined();
      expect(await history.changes("kind", "1", lost, 10)).toBeUndefined();
      await store.change("kind", "1", [add(feature)]);
    }
    expect(await store.changes(lost, 10)).toBeUndefined();
    expect(await store.changes(kept, 10)).toHaveLength(3);
    expect(await history.changes("kind", "1", kept, 10)).toHaveLength(3);
    // An earlier release wrote it without the instant.
    expect(await store.changes(kept.replace(/-[^-]*$/, ""), 10)).toHaveLength(3);
  });

  test("makes concurrent changes of many resources in few transactions", async () => {
    await using made = await newPostgres(server.url);
    await using store = await openFeatureStore(made.url);
    await store.change("kind", "first", [add("a")]);
    const next = "select pg_snapshot_xmax(pg_current_snapshot())::text::int as next";
    const transactions = async () => (await runOn(made, next)).rows[0].next as number;
    const before = await transactions();
    const ids = names(400);
    await Promise.all(ids.map((id) => store.change("kind", id, [add("a")])));
    expect((await transactions()) - before).toBeLessThan(40);
    expect(await store.counts("kind", ["a"])).toEqual([401]);
  });

  test("makes changes in a database whose default isolation is serializable", async () => {
    await using made = await newPostgres(server.url);
    const name = new URL(made.url).pathname.slice(1);
    await runOn(server, `alter database ${name} set default_transaction_isolation = serializable`);
    await using one = await openFeatureStore(made.url);
    await using other = await openFeatureStore(made.url);
    const ids = names(50);
    for (const id of ids) {
      await Promise.all([one, other].map((store) => store.change("kind", id, [add("a")])));
    }
    expect(await one.counts("kind", ["a"])).toEqual([50]);
    expect(await one.changes(undefined, 100)).toHaveLength(50);
  });

  test("with keep=all it saves the list of a resource from time to time, so that an old one need not be made of all records", async () => {
    await using made = await newPostgres(server.url);
    await using store = await openFeatureStore(`${made.url}?keep=all`);
    for (let round = 0; round < 5; round++) {
      const changes = names(50).flatMap((name) => [add(name), remove(name)]);
      await store.change("kind", "1", changes);
    }
    const { rows } = await runOn(made, "select count(*)::int as lists from feature_storage.feature_list");
    expect(rows).toEqual([{ lists: 5 }]);
  });

  test("keeps at least the newest records", async () => {
    await using made = await newPostgres(server.url);
    await using store = await openFeatureStore(`${made.url}?changes=1500`);
    for (let round = 0; round < 6; round++) {
      const type = round % 2 ? "remove" : "add";
      const changes = names(900).map((feature) => ({ type, feature }) as const);
      await store.change("kind", "1", changes);
      const kept = (await store.changes(undefined, 10_000)) ?? [];
      expect(kept.length).toBeGreaterThanOrEqual(Math.min(1500, 900 * (round + 1)));
      expect(kept.length).toBeLessThan(1500 + 1000 + 900);
    }
  });

  test("a rejected change does not affect those that are made together with it", async () => {
    await using made = await newPostgres(server.url);
    await using store = await openFeatureStore(made.url);
    const tooMany = names(1001).map((name) => add(name));
    const outcomes = await Promise.all([
      store.change("kind", "1", [add("a")]),
      store.change("kind", "2", [add("a")], ["other"]),
      store.change("kind", "3", tooMany),
      store.change("kind", "1", [remove("a"), add("b")], ["a"]),
    ]);
    expect(outcomes).toEqual([
      { had: [false] },
      { rejected: "list differs" },
      { rejected: "too many features" },
      { had: [true, false] },
    ]);
  });

  test("a suspended process does not block the changes of another", async () => {
    await using made = await newPostgres(server.url);
    const start = () => startService("features", { env: { FEATURES_STORE_URL: made.url } });
    await using one = await start();
    await using other = await start();
    let isOver = false;
    let count = 0;
    const add = ({ url }: TestServer, path: string) =>
      statusOf(`${url}/features/customer/${path}`, {}, "POST");
    const adding = Array.from({ length: 16 }, async (_, id) => {
      while (!isOver) await add(one, `${id}/${count++ % 900}`).catch(() => {});
    });
    for (let round = 0; round < 30; round++) {
      await sleep(Math.random() * 30);
      one.pause();
      expect(await add(other, `other/${round}`)).toBe(201);
      one.resume();
    }
    isOver = true;
    await Promise.all(adding);
  });

  test("shares a database with the ledger", async () => {
    await using made = await newPostgres(server.url);
    const databases = { FEATURES_STORE_URL: made.url, DATABASE_URL: made.url };
    await using services = await startServices({ ...databases, QUEUE_URL: "memory:" });
    expect(await statusOf(`${services.featuresUrl}/features/customer/1/a`, {}, "POST")).toBe(201);
    expect(await statusOf(`${services.ledgerUrl}/healthcheck`)).toBe(200);
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

const areInstalled = isPostgresInstalled() && isPgbouncerInstalled();
describeIfAvailable("PostgreSQL or PgBouncer", areInstalled)("a store behind a PgBouncer", () => {
  describe.each(["transaction", "session"])("that shares sessions by %s", (mode) => {
    test("is opened and changed by several at the same time", async () => {
      await using server = await startPostgres();
      await using pooler = await startPgbouncer(server, `pool_mode = ${mode}`, "default_pool_size = 20");
      const stores = await Promise.all([1, 2, 3].map(() => openFeatureStore(pooler.url)));
      const ids = names(30);
      await Promise.all(
        stores.flatMap((store) => ids.map((id) => store.change("kind", id, [add("a"), add("b")]))),
      );
      for (const store of stores) {
        expect(await store.counts("kind", ["a"])).toEqual([30]);
        expect(await featuresOf(store, "kind", "7")).toEqual(["a", "b"]);
        expect(await store.has("kind", "7", ["a", "c"])).toEqual([true, false]);
        expect(await store.changes(undefined, 100)).toHaveLength(60);
      }
      for (const store of stores) await store[Symbol.asyncDispose]();
    });
  });
});
