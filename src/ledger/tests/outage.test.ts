import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { message, story } from "../../../testing/messages.ts";
import { run } from "../../../testing/run.ts";
import {
  cancelCommit,
  isPostgresInstalled,
  makeSynchronous,
  runOn,
  startPostgres,
  startReplicaOf,
  untilRow,
} from "../../../testing/servers/postgres.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import { openDatabase } from "../../database/databases.ts";
import { migrate } from "../tables/migrate.ts";
import { openApp, startLedger } from "./ledger.fixture.ts";

/** Opens a connection to change the state of the server. Nothing else uses it. */
async function connectOperator(url: string) {
  const client = new pg.Client(url);
  await client.connect();
  return {
    query: (statement: string) => client.query(statement),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** Adds the event of a new payment in a request. Resolves with the status. */
async function postEvent(ledger: Awaited<ReturnType<typeof startLedger>>, id: string): Promise<number> {
  return (await postEvents(ledger, message({ resource_external_id: id }))).status;
}

/** Adds an event or a list of them in a request. */
function postEvents(ledger: Awaited<ReturnType<typeof startLedger>>, events: object) {
  const headers = { "content-type": "application/json" };
  return ledger.request("/v1/event", { method: "POST", headers, body: JSON.stringify(events) });
}

describeIfAvailable("PostgreSQL", isPostgresInstalled())("during a database outage, the ledger", () => {
  test("answers 503 at once, leaves messages in the queue, and continues when the database is back", async () => {
    await using server = await startPostgres();
    // A request that waits for this limit would end the test.
    await using ledger = await startLedger({
      open: () => openDatabase(server.url),
      statementTimeoutMs: 10 * testWaitMaxMs,
    });
    await ledger.store([message({ resource_external_id: "before" })]);
    await server.kill();

    const paths = ["/v1/transaction/before?account_id=57", "/v1/transaction/?account_id=57", "/v1/event/1"];
    for (const path of paths) {
      const { status, headers, json } = await ledger.request(path);
      expect([status, headers["retry-after"], json.detail]).toEqual([
        503,
        "1",
        "the database is unavailable; try again later",
      ]);
    }
    const health = await ledger.request("/healthcheck");
    expect([health.status, health.json]).toMatchObject([
      503,
      { database: { healthy: false, message: "The database cannot be reached" }, queue: { healthy: true } },
    ]);
    const { status, text } = await ledger.request("/metrics");
    expect([status, text]).toEqual([
      200,
      expect.stringContaining('\nledger_dead_letters{scope="shared"} Nan\n'),
    ]);

    const sent = ["1", "2", "3", "4", "5", "6", "7", "8"];
    for (const id of sent) {
      await ledger.send(message({ resource_external_id: id }));
      await sleep(1);
    }
    await eventually(async () =>
      expect((await ledger.request("/healthcheck")).json.receiver.failing_for_ms).toBeGreaterThan(2500),
    );
    // Each of the four calls that wait for a message receives one and fails. Then the receiver waits for the database.
    const retried = 'ledger_messages_total{outcome="retried"}';
    const [, deliveries] =
      new RegExp(`^${retried} (.*)$`, "m").exec((await ledger.request("/metrics")).text) ?? [];
    expect(Number(deliveries)).toBeLessThanOrEqual(4);
    // One line of the requests, one of the health checks, and one of the receiver.
    expect(ledger.logged.map((line) => JSON.parse(line).msg).sort()).toEqual([
      "The database cannot be reached",
      expect.stringMatching(/will be retried|receiving failed/),
      "the database is unavailable; try again later",
    ]);

    await server.start();
    await eventually(async () => expect((await ledger.request("/healthcheck")).status).toBe(200));
    for (const id of ["before", ...sent]) {
      await ledger.until(`/v1/transaction/${id}?account_id=57`, { transaction_id: id });
    }
    expect((await ledger.request("/metrics")).text).toContain('\nledger_dead_letters{scope="shared"} 0\n');
  });

  test("can be stopped while the database hangs", async () => {
    await using server = await startPostgres();
    const env = { DATABASE_URL: server.url, QUEUE_URL: "memory:", LEDGER_PORT: "0" };
    const ledger = run("src/main.ts", { args: ["ledger"], env });
    await ledger.waitForOutput("listening");
    server.pause();
    ledger.child.kill("SIGTERM");
    await ledger.exit;
  });

  test("answers from a replica", async () => {
    await using server = await startPostgres();
    await using database = await openDatabase(server.url);
    await migrate(database);
    await using replicaServer = await startReplicaOf(server);
    await using replica = await openDatabase(replicaServer.url);
    await using ledger = await startLedger({ open: () => openDatabase(server.url), replica });
    const path = "/v1/transaction/before?account_id=57";
    await ledger.send(message({ resource_external_id: "before" }));
    await ledger.until(path, { transaction_id: "before" });
    await server.kill();
    expect((await ledger.request(path)).status).toBe(200);
    expect((await ledger.request("/healthcheck")).json.database.healthy).toBe(false);

    await server.start();
    await eventually(async () => expect((await ledger.request("/healthcheck")).status).toBe(200));
    await replicaServer.kill();
    expect((await ledger.request(path)).status).toBe(503);
    expect((await ledger.request("/healthcheck")).json.database.healthy).toBe(false);
    expect((await ledger.request("/metrics")).text).toContain(
      '{scope="process",database="DATABASE_READ_URL",pool="requests",',
    );
  });

  test("stores events and says their numbers while the replica is behind", async () => {
    await using server = await startPostgres();
    await using database = await openDatabase(server.url);
    await migrate(database);
    await using replicaServer = await startReplicaOf(server);
    await using replica = await openDatabase(replicaServer.url);
    await using ledger = await startLedger({
      open: () => openDatabase(server.url),
      replica,
      eventWrites: true,
    });
    const events = [
      ...story("payment", "pay", ["10:00", "PAYMENT_CREATED"]),
      ...story("agreement", "agr", ["10:00", "AGREEMENT_CREATED"]),
    ];
    await runOn(replicaServer, "select pg_wal_replay_pause()");
    const { status, json } = await postEvents(ledger, events);
    const event_id = expect.any(Number);
    expect([status, json.events]).toEqual([202, Array(2).fill({ event_id, is_new: true })]);
    const again = await postEvents(ledger, events);
    expect([again.status, again.json.events]).toEqual([
      202,
      json.events.map((event: object) => ({ ...event, is_new: false })),
    ]);
    const statusOf = async (path: string, headers = {}) => (await ledger.request(path, { headers })).status;
    const agreement = "/v1/agreement/agr?account_id=57";
    for (const path of [
      "/v1/transaction/pay?account_id=57",
      agreement,
      `/v1/event/${json.events[0].event_id}`,
    ])
      expect([path, await statusOf(path)]).toEqual([path, 404]);
    for (const path of [agreement, `${agreement}&as_of=2024-03-05T11:00:00Z`])
      expect([path, await statusOf(path, { "x-consistent": "true" })]).toEqual([path, 200]);
    await runOn(replicaServer, "select pg_wal_replay_resume()");
    await ledger.until("/v1/transaction/pay?account_id=57", { transaction_id: "pay" });
  });

  test("confirms no event that the synchronous standby lacks, also if it is sent again", async () => {
    await using server = await startPostgres();
    await using standby = await startReplicaOf(server);
    await using ledger = await startLedger({ open: () => openDatabase(server.url), eventWrites: true });
    await makeSynchronous(server);
    expect(await postEvent(ledger, "before")).toBe(202);
    standby.pause();
    // The second request finds the event: it is committed in the primary.
    for (let times = 0; times < 2; times += 1) {
      const [status] = await Promise.all([postEvent(ledger, "meanwhile"), cancelCommit(server)]);
      expect(status).toBe(503);
    }
    standby.resume();
    await eventually(async () => expect(await postEvent(ledger, "meanwhile")).toBe(202));
  });

  test.each([
    ["the lock of a table", "lock table event in exclusive mode"],
    ["the lock of a resource", "select pg_advisory_xact_lock(hashtextextended('locked', 0))"],
  ])("answers 503 to events whose wait for %s was cancelled", async (_lock, statement) => {
    await using server = await startPostgres();
    await using ledger = await startLedger({ open: () => openDatabase(server.url), eventWrites: true });
    await using operator = await connectOperator(server.url);
    await operator.query(`begin; ${statement}`);
    const posted = postEvent(ledger, "locked");
    await untilRow(
      server,
      "select pg_cancel_backend(pid) from pg_stat_activity where wait_event_type = 'Lock'",
    );
    expect(await posted).toBe(503);
    await operator.query("rollback");
    expect(await postEvent(ledger, "locked")).toBe(202);
  });

  test("answers 503 to requests above the limit, but not to health checks and metrics, while a table is locked", async () => {
    await using server = await startPostgres();
    await using database = await openDatabase(server.url);
    await migrate(database);
    await using api = await openApp({ database, metrics: new Registry() });
    await using operator = await connectOperator(server.url);
    await operator.query("begin; lock table transaction in access exclusive mode");

    const countByStatus: Record<number, number> = {};
    // Four statements of a caller run, and 100 wait.
    const searches = Array.from({ length: 1200 }, async (_, index) => {
      const { statusCode } = await api.app.inject(`/v1/transaction/?account_id=${index}`);
      countByStatus[statusCode] = (countByStatus[statusCode] ?? 0) + 1;
    });
    await expect.poll(() => countByStatus).toEqual({ 503: 1096 });
    expect((await api.app.inject("/healthcheck")).statusCode).toBe(200);
    const metrics = await api.app.inject("/metrics");
    expect([metrics.statusCode, metrics.payload]).toEqual([
      200,
      expect.stringContaining('seconds_count{operation="searchTransactions",status="503"} 1096\n'),
    ]);
    await operator.query("rollback");
    await Promise.all(searches);
    expect(countByStatus).toEqual({ 200: 104, 503: 1096 });
  });

  test.each([
    {
      state: "the database only reads",
      begin: ["alter system set default_transaction_read_only = on", "select pg_reload_conf()"],
      end: [
        "set default_transaction_read_only = off",
        "alter system reset default_transaction_read_only",
        "select pg_reload_conf()",
      ],
    },
    {
      state: "a table is locked",
      begin: ["begin", "lock table event in exclusive mode"],
      end: ["rollback"],
    },
  ])("is unhealthy while $state, and then stores every message at once", async ({ begin, end }) => {
    await using server = await startPostgres();
    await using ledger = await startLedger({ open: () => openDatabase(server.url) });
    await ledger.store([message({ resource_external_id: "before" })]);
    await using operator = await connectOperator(server.url);
    for (const statement of begin) await operator.query(statement);

    const ids = Array.from({ length: 2000 }, (_, index) => `after ${index}`);
    await ledger.send(...ids.map((id) => message({ resource_external_id: id })));
    const health = async () => {
      const { status, json } = await ledger.request("/healthcheck");
      return { status, ...json };
    };
    expect(await health()).toMatchObject({ status: 200 });
    await eventually(async () =>
      expect(await health()).toMatchObject({
        status: 503,
        database: { healthy: true },
        receiver: { healthy: false, message: expect.stringMatching(/^Nothing could be stored for \d+ s$/) },
      }),
    );
    expect((await ledger.request("/v1/transaction/before?account_id=57")).status).toBe(200);
    const { text } = await ledger.request("/metrics");
    // Each of the 4 loops of the receiver retries at most one batch of 400. After that, messages are tried one at a time.
    expect(Number(/outcome="retried"\} (\d+)/.exec(text)?.[1])).toBeLessThan(4 * 400 + 50);

    for (const statement of end) await operator.query(statement);
    await eventually(async () => {
      const [row] = await ledger.database.query<{ count: bigint }>("select count(*) from event");
      expect(row?.count).toBe(2001n);
    });
    expect(await health()).toMatchObject({ status: 200, receiver: { failing_for_ms: 0 } });
  });

  test("reports a stuck receiver, which continues when the database responds again", async () => {
    await using server = await startPostgres();
    await using ledger = await startLedger({ open: () => openDatabase(server.url), statementTimeoutMs: 500 });
    await ledger.store([message({ resource_external_id: "before" })]);
    server.pause();
    await ledger.send(message({ resource_external_id: "after" }));
    const age = async () => (await ledger.request("/healthcheck")).json.receiver.oldest_message_age_ms;
    await eventually(async () => expect(await age()).toBeGreaterThan(1000));
    // Another batch can be in flight at the same time.
    await ledger.send(message({ resource_external_id: "meanwhile" }));
    await eventually(async () =>
      expect((await ledger.request("/metrics")).text).toContain(
        '\nledger_queue_messages_waiting{scope="shared"} 0\n',
      ),
    );
    expect([503, 504]).toContain((await ledger.request("/v1/event/1")).status);
    server.resume();
    await ledger.until("/v1/transaction/after?account_id=57", { transaction_id: "after" });
    await eventually(async () => expect(await age()).toBe(0));
  });
});
