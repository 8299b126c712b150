import { setTimeout } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { Registry } from "prom-client";
import type { Contract } from "../../../src/contract/operations.ts";
import { schemaValidator } from "../../../src/contract/validation.ts";
import { openDatabase } from "../../../src/database/databases.ts";
import { featuresApp, featuresService } from "../../../src/features/app.ts";
import { type FeatureStore, StoreFailure } from "../../../src/features/store/store.ts";
import { openFeatureStore } from "../../../src/features/store/stores.ts";
import { ledgerApp, ledgerService } from "../../../src/ledger/app.ts";
import { openIntake } from "../../../src/ledger/intake/intake.ts";
import { createReceiver } from "../../../src/ledger/intake/receiver.ts";
import { openQueue } from "../../../src/ledger/queue/queues.ts";
import { receiverLimits, settings } from "../../../src/ledger/settings.ts";
import { migrate } from "../../../src/ledger/tables/migrate.ts";
import { openLog } from "../../../src/process/log.ts";
import { readSettings } from "../../../src/process/settings.ts";
import { pounds } from "../../../src/values/currency.ts";
import { retry } from "../../../src/waiting/retry.ts";
import { openIssuer } from "../../../testing/issuer.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import { type Delivery, publishToWebhooks } from "./deliveries.ts";
import { messages, rebuilds } from "./messages.ts";
import { cursorKey, featuresRequests, ledgerRequests, type RequestCase } from "./requests.ts";

/** The state of a service and its dependencies during requests. */
export type Situation = "normal" | "handlers throw" | "dependency down" | "database busy";

/** A service under test. */
export interface Subject extends AsyncDisposable {
  contract: Contract;
  requests: RequestCase[];
  /** Valid tokens: one with every scope and one with none. */
  tokens?: { sufficient: string; insufficient: string };
  /** Values that the service accepted other than in requests, by the name of their schema. */
  accepted: Record<string, object[]>;
  /** What the service has sent to webhooks, if its contract has them. */
  deliveries?: Delivery[];
  /** The service in this situation. It does not listen yet. */
  open(situation: Situation): Promise<FastifyInstance>;
}

const log = openLog("silent");
const ledgerId = "0d4fb1c6-2f2c-4b6e-9a8b-6b0a4f1f2f55";
const stalled = { oldestInFlightMs: () => 3_600_000, failingForMs: () => 0 };
const unavailable = async () => {
  throw new StoreFailure("the dependency is down");
};

export function withThrowingHandlers(app: FastifyInstance): FastifyInstance {
  return app.addHook("preHandler", async () => {
    throw new Error("a bug");
  });
}

export async function ledgerSubject(): Promise<Subject> {
  const opened = new AsyncDisposableStack();
  const database = opened.use(await openDatabase("pglite:memory"));
  await migrate(database);
  const queue = opened.use(await openQueue("memory:"));
  const issuer = opened.use(await openIssuer());
  const stop = new AbortController();
  const limits = receiverLimits(readSettings({}, settings));
  const intake = openIntake(database, pounds, new Registry(), log);
  const receiver = createReceiver({ queue, database, intake, log, limits });
  const receiving = receiver.run(stop.signal);
  opened.defer(() => receiving);
  opened.defer(() => stop.abort());

  const required = ["event_type", "resource_type", "resource_external_id", "timestamp"];
  const rejected = required.map((name) => ({ ...messages[0], [name]: undefined }));
  const sent = [...messages, ...rejected, ...rebuilds];
  await queue.send(sent.map((message) => JSON.stringify(message)));
  const requireStored = async (table: string, expected: number) => {
    const { length } = await database.query(`select from ${table}`);
    if (length !== expected) throw new Error(`${table} has ${length} rows of ${expected}`);
  };
  await retry(() => requireStored("event", messages.length), { forMs: testWaitMaxMs });
  await retry(() => requireStored("dead_letter", rejected.length), { forMs: testWaitMaxMs });

  const deliveries = await publishToWebhooks(database, ledgerId, messages.length);

  await database.query(manyPayments);
  await database.query(manyEvents);
  await database.run(operated);
  await database.run(accessed);
  await database.run(longAgo);

  return {
    contract: ledgerService.contract,
    requests: ledgerRequests,
    tokens: {
      sufficient: await issuer.sign({ scope: "ledger:read:all ledger:write ledger:operate ledger:audit" }),
      insufficient: await issuer.sign({}),
    },
    accepted: { EventMessage: [...messages, ...rebuilds] },
    deliveries,
    async open(situation) {
      const isBusy = situation === "database busy";
      const isDown = situation === "dependency down";
      if (isDown) await database.run(`${behindInFlight}; ${checkpoint}`);
      const app = await ledgerApp({
        cursorKey,
        ledgerId,
        currency: pounds,
        database: isBusy ? { ...database, check: async () => undefined } : database,
        queue: isDown ? { ...queue, countWaiting: unavailable } : queue,
        receiver: isBusy ? undefined : isDown ? stalled : receiver,
        targets: isBusy || isDown ? [] : targets,
        sealing: { problem: () => (isDown ? "the log had 1 entries and has 0" : undefined) },
        intake,
        statementTimeoutMs: isBusy ? 50 : 60_000,
        security: issuer.security,
        allowedHosts: [],
        log,
      });
      if (isBusy) {
        // The engine runs one transaction at a time.
        const { promise: released, resolve: release } = Promise.withResolvers<void>();
        void database.transaction(() => released);
        app.addHook("preClose", async () => release());
      }
      return situation === "handlers throw" ? withThrowingHandlers(app) : app;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** As if a caller and a command had been recorded. The requests of this check are not. */
const accessed = `
  insert into access_record (accessed_at, service, operation, subject, client, gateway_account_ids, resource_ids, resource_count, status,
    request_id, reason)
  values (now(), 'ledger', 'getTransaction', 'anna', 'desk', '{57}', '{full}', 1, 200, 'one', 'ticket 1'),
    (now(), 'ledger', 'command redact', null, null, '{}', '{}', null, 202, null, null)`;

/** As if everything was stored before the days in the examples of the contract. */
const longAgo = `
  delete from instant_position;
  insert into instant_position values ('2024-01-01Z', 1);
  insert into instant_position select '2024-12-01Z', max(sql_transaction) + 1 from transaction_change`;

/** As if so many SQL transactions had committed while an older one is in flight that a response has no position. */
const behindInFlight = `
  insert into event_feed (sql_transaction, event_id, only_of_account)
  select 4611686018427387904 + n, 1, true from generate_series(1, 101) as n`;

const checkpoint = "insert into transparency_checkpoint (size, note) values (1, '')";

/**
 * Live payments, each of its own hour and account: more hours, and more accounts, than a page has. They are inserted, since
 * their messages would take ten seconds.
 */
const manyPayments = `
  insert into transaction (external_id, transaction_type, gateway_account_id, live, state, created_date, event_count,
                           first_event_id, details)
  select 'many' || n, 'PAYMENT', 'many' || n, true, 'SUCCESS', timestamptz '2020-01-01Z' + n * interval '1 hour', 1,
         0, '{"amount": 1}'
  from generate_series(1, 10000) as n`;

/** More events of a live payment than a response of the ticker has. */
const manyEvents = `
  insert into event (resource_type, resource_external_id, timestamp, event_type, event_details)
  select 'payment', 'many1', timestamptz '2024-03-07Z' + n * interval '1 second', 'SOMETHING_ELSE', '{}'
  from generate_series(1, 10000) as n`;

/** The names of targets of published events. */
const targets = ["https://example.com/events", "payments"];

/**
 * For operators: dead letters that a replay would store, that would rebuild a projection, that are no JSON, that were
 * discarded, and that a replay would publish; minutes with messages and with retried deliveries only; targets that have
 * everything, with events that wait, and that take nothing. The numbers of the dead letters are those of requests.
 */
const operated = `
  insert into dead_letter (id, source_id, body, reason, discarded_at, note, target) overriding system value
  select id, 'operated' || id, convert_to(body, 'UTF8'), 'an older rule', discarded_at, note, target
  from (values
    (1001, '${JSON.stringify(messages[0])}', null::timestamptz, null, null),
    (1002, '${JSON.stringify(rebuilds[0])}', null, null, null),
    (1003, 'no JSON', null, null, null),
    (1004, '${JSON.stringify(messages[0])}', now(), 'a test of the producer', null),
    (1005, '${JSON.stringify(messages[0])}', null, null, '${targets[0]}')
  ) as row (id, body, discarded_at, note, target);
  insert into publication (target, sql_transaction, event_id, timestamp, problem)
  select '${targets[0]}', sql_transaction, event_id, now(), null from event_feed
  order by sql_transaction desc, event_id desc limit 1;
  insert into publication (target, sql_transaction, event_id, timestamp, problem)
  values ('${targets[1]}', 0, 0, now(), 'The target takes nothing: connect ECONNREFUSED');
  insert into deferred_delivery
  select target, sql_transaction, event_id, 'payment', 'waiting' || attempts, attempts, now() + interval '1 hour', reason
  from publication, (values (3, 'the target responded with 422'), (0, null)) as row (attempts, reason)
  where target = '${targets[0]}';
  insert into intake_minute (minute, stored, duplicate, rebuilt, dead_letter, retried, lag_messages, lag_ms_sum, lag_ms_max)
  values (date_trunc('minute', now()) - interval '10 minutes', 1, 0, 0, 0, 0, 1, 85, 85),
         (date_trunc('minute', now()) - interval '5 minutes', 0, 0, 0, 0, 7, 0, 0, 0);
  insert into freshness_minute values (date_trunc('minute', now()), 'feed', 21, 420)`;

/** Lines of a file that the store command can import. */
const entry = { resource: "customer", id: "42", feature: "dark-mode" };
const entries = [entry, { ...entry, expires_at: "9999-01-01T00:00:00Z" }];

export async function featuresSubject(): Promise<Subject> {
  const store = await openFeatureStore("memory:?keep=all");
  const methods = Object.keys(store).map((name) => [name, unavailable]);
  const failing = { ...store, ...Object.fromEntries(methods), news: store.news } as FeatureStore;
  await store.change("customer", "45", [{ type: "add", feature: "expired", expiresAt: Date.now() + 1 }]);
  await setTimeout(10);
  const errors = entries.flatMap(schemaValidator(featuresService.contract, "Entry"));
  if (errors.length > 0) throw new Error(`the entries are invalid: ${errors.join(", ")}`);
  const afterCursor: RequestCase = {
    status: 200,
    method: "GET",
    path: `/resources/customer/45/changes?cursor=${await store.newest()}`,
  };
  const issuer = await openIssuer();
  const scope = "features:read features:write";
  return {
    contract: featuresService.contract,
    requests: [...featuresRequests, afterCursor],
    tokens: { sufficient: await issuer.sign({ scope }), insufficient: await issuer.sign({}) },
    accepted: { Entry: entries },
    async open(situation) {
      const app = await featuresApp({
        store: situation === "dependency down" ? failing : store,
        security: issuer.security,
        allowedHosts: [],
        log,
      });
      return situation === "handlers throw" ? withThrowingHandlers(app) : app;
    },
    async [Symbol.asyncDispose]() {
      await issuer[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}
