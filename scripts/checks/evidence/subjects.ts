import { setTimeout } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { Registry } from "prom-client";
import type { Contract } from "../../../src/contract/operations.ts";
import { schemaValidator } from "../../../src/contract/validation.ts";
import { featuresApp, featuresService } from "../../../src/features/app.ts";
import { type FeatureStore, openFeatureStore, StoreFailure } from "../../../src/features/store/store.ts";
import { ledgerApp, ledgerService } from "../../../src/ledger/app.ts";
import { openDatabase } from "../../../src/ledger/database/database.ts";
import { createReceiver } from "../../../src/ledger/intake/receiver.ts";
import { openQueue } from "../../../src/ledger/queue/queue.ts";
import { receiverLimits, settings } from "../../../src/ledger/settings.ts";
import { migrate } from "../../../src/ledger/tables/migrate.ts";
import { openLog } from "../../../src/process/log.ts";
import { readSettings } from "../../../src/process/settings.ts";
import { openIssuer } from "../../../testing/issuer.ts";
import { messages, rebuilds } from "./messages.ts";
import { type Asked, featuresRequests, ledgerRequests } from "./requests.ts";

/** How things stand when a service is asked. */
export type Situation =
  | "all is well"
  | "a handler has a bug"
  | "what it depends on is away"
  | "its database is busy";

/** A service the evidence is gathered of. */
export interface Subject extends AsyncDisposable {
  contract: Contract;
  requests: Asked[];
  /** Tokens that go along with requests: one that may ask everything, and one that is good and may ask nothing. */
  tokens?: { good: string; poor: string };
  /** Bodies of messages that were taken, by the schema they are held against. */
  taken: Record<string, object[]>;
  /** The service in this situation, ready to listen. */
  open(situation: Situation): Promise<FastifyInstance>;
}

const log = openLog("silent");
const away = async () => {
  throw new StoreFailure("it is away");
};

/** The service as it is when every handler of it fails. */
export function withBug(app: FastifyInstance): FastifyInstance {
  return app.addHook("preHandler", async () => {
    throw new Error("a bug");
  });
}

export async function ledgerSubject(): Promise<Subject> {
  const database = await openDatabase("pglite:memory");
  await migrate(database);
  const queue = await openQueue("memory:");
  const issuer = await openIssuer();
  const stop = new AbortController();
  const limits = receiverLimits(readSettings({}, settings));
  const receiver = createReceiver({ queue, database, metrics: new Registry(), log, limits });
  const receiving = receiver.run(stop.signal);

  const required = ["event_type", "resource_type", "resource_external_id", "timestamp"];
  const refused = required.map((name) => ({ ...messages[0], [name]: undefined }));
  const sent = [...messages, ...refused, ...rebuilds];
  await queue.send(sent.map((message) => JSON.stringify(message)));
  const stored = await counted(messages.length, () => database.query("select from event"));
  const parked = await counted(refused.length, () => database.query("select from dead_letter"));
  if (stored !== messages.length || parked !== refused.length) {
    throw new Error(
      `of ${messages.length} events ${stored} were stored, of ${refused.length} faults ${parked} parked`,
    );
  }

  return {
    contract: ledgerService.contract,
    requests: ledgerRequests,
    tokens: { good: await issuer.sign({ scope: "ledger:read:all" }), poor: await issuer.sign({}) },
    taken: { EventMessage: [...messages, ...rebuilds] },
    async open(situation) {
      const busy = situation === "its database is busy";
      const app = await ledgerApp({
        database: busy ? { ...database, check: async () => undefined } : database,
        queue: situation === "what it depends on is away" ? { ...queue, check: away } : queue,
        receiver: busy
          ? undefined
          : situation === "what it depends on is away"
            ? { oldestInFlightMs: () => 3_600_000, failingForMs: () => 0 }
            : receiver,
        statementTimeoutMs: busy ? 50 : 60_000,
        security: issuer.security,
        log,
      });
      if (busy) {
        const { promise: released, resolve: release } = Promise.withResolvers<void>();
        void database.transaction(() => released);
        app.addHook("preClose", async () => release());
      }
      return situation === "a handler has a bug" ? withBug(app) : app;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await receiving;
      await issuer[Symbol.asyncDispose]();
      await queue[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** How many rows there are when there are as many as wanted, or when they have stopped coming. */
async function counted(wanted: number, rows: () => Promise<unknown[]>): Promise<number> {
  const deadline = Date.now() + 10_000;
  let count = 0;
  while (count < wanted && Date.now() < deadline) count = (await rows()).length;
  return count;
}

/** Lines of a file that can be imported. */
const entry = { resource: "customer", id: "42", feature: "dark-mode" };
const entries = [entry, { ...entry, expires_at: "9999-01-01T00:00:00Z" }];

export async function featuresSubject(): Promise<Subject> {
  const store = await openFeatureStore("memory:");
  const methods = Object.keys(store).map((name) => [name, away]);
  const failing = { ...store, ...Object.fromEntries(methods) } as FeatureStore;
  await store.change("customer", "45", [{ type: "add", feature: "gone", expiresAt: Date.now() + 1 }]);
  await setTimeout(10);
  const faults = entries.flatMap(schemaValidator(featuresService.contract, "Entry"));
  if (faults.length > 0) throw new Error(`entries are not taken: ${faults.join(", ")}`);
  const issuer = await openIssuer();
  const scope = "features:read features:write";
  return {
    contract: featuresService.contract,
    requests: featuresRequests,
    tokens: { good: await issuer.sign({ scope }), poor: await issuer.sign({}) },
    taken: { Entry: entries },
    async open(situation) {
      const isAway = situation === "what it depends on is away";
      const app = await featuresApp({
        store: isAway ? failing : store,
        security: issuer.security,
        log,
      });
      return situation === "a handler has a bug" ? withBug(app) : app;
    },
    async [Symbol.asyncDispose]() {
      await issuer[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}
