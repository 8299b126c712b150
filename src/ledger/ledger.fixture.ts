import { Registry } from "prom-client";
import { request as undiciRequest } from "undici";
import { expect } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import type { Database } from "../database/database.ts";
import type { Security } from "../http/security.ts";
import { openLog } from "../process/log.ts";
import { readSettings } from "../process/settings.ts";
import { ledgerApp } from "./app.ts";
import { openIntake } from "./intake/intake.ts";
import { startSavingIntakeMinutes } from "./intake/intake-minutes.ts";
import { createReceiver } from "./intake/receiver.ts";
import { openQueue } from "./queue/queue.ts";
import { receiverLimits, settings } from "./settings.ts";
import { continueFeed } from "./tables/feed.ts";
import { openLedgerDatabase } from "./tables/ledger-database.fixture.ts";
import { migrate } from "./tables/migrate.ts";

/**
 * Starts the API and a receiver, by default on a new empty database. Disposal fails if a response has violated the
 * contract.
 */
export async function startLedger({
  statementTimeoutMs = 10_000,
  open = openLedgerDatabase,
  queueUrl = "memory:",
  replica = undefined as Database | undefined,
  security = undefined as Security | undefined,
  accountsClaim = "accounts",
  eventWrites = false,
} = {}) {
  const logged: string[] = [];
  const log = openLog("warn", { write: (line) => logged.push(line) });
  const violations: string[] = [];
  const database = await open();
  await migrate(database);
  await continueFeed(database);
  const queue = await openQueue(queueUrl);
  const metrics = new Registry();
  const intake = openIntake(database, metrics, log);
  const saving = startSavingIntakeMinutes(database, intake.minutes, log);
  const receiver = createReceiver({
    queue,
    database,
    intake,
    log,
    limits: receiverLimits(readSettings({}, settings)),
  });
  const app = await ledgerApp({
    database,
    replica,
    queue,
    receiver,
    intake: eventWrites ? intake : undefined,
    statementTimeoutMs,
    security,
    accountsClaim,
    log,
    metrics,
    onViolation: (violation) => violations.push(violation),
  });
  const base = await app.listen({ port: 0, host: "127.0.0.1" });
  const stop = new AbortController();
  const receiving = receiver.run(stop.signal);

  async function request(path: string, options: Parameters<typeof undiciRequest>[1] = {}) {
    const { statusCode: status, headers, body } = await undiciRequest(base + path, options);
    const text = await body.text();
    const isJson = /[/+]json/.test(String(headers["content-type"]));
    return { status, headers, text, json: isJson && text !== "" ? JSON.parse(text) : undefined };
  }

  return {
    base,
    database,
    /** The log lines of level warn and above. */
    logged,
    request,
    send: (...messages: object[]) => queue.send(messages.map((message) => JSON.stringify(message))),
    sendText: (...bodies: string[]) => queue.send(bodies),
    /** Sends events of new transactions or payouts, and waits until they are stored. */
    async store(...stories: object[][]) {
      const messages = stories.flat() as { resource_external_id: string }[];
      const ids = [...new Set(messages.map(({ resource_external_id }) => resource_external_id))];
      await queue.send(messages.map((message) => JSON.stringify(message)));
      await eventually(async () => {
        const stored = await database.query("select from event where resource_external_id = any($1)", [ids]);
        // Tests send events of types that the contract does not list.
        const others = logged.filter((line) => !line.includes('"eventType"'));
        expect({ stored: stored.length, others }).toEqual({ stored: messages.length, others: [] });
      });
    },
    /** Waits until the response body has these members. */
    async until(path: string, members: object) {
      await eventually(async () => expect((await request(path)).json).toMatchObject(members));
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await receiving;
      await app.close();
      await saving[Symbol.asyncDispose]();
      await queue[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      expect(violations).toEqual([]);
    },
  };
}
