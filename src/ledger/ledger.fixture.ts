import { request } from "undici";
import { expect, vi } from "vitest";
import { openLog } from "../service/log.ts";
import { ledgerApp } from "./app.ts";
import { openDatabase } from "./database/database.ts";
import { receive } from "./intake/receiver.ts";
import { openQueue } from "./queue/queue.ts";
import { migrate } from "./tables/migrate.ts";

/** A ledger as it runs, in memory, with every reply held against the contract. */
export async function startLedger({ database: url = "pglite:memory", statementTimeoutMs = 10_000 } = {}) {
  const logged: string[] = [];
  const log = openLog("warn", { write: (line) => logged.push(line) });
  const strays: string[] = [];
  const database = await openDatabase(url);
  await migrate(database);
  const queue = await openQueue("memory:");
  const app = await ledgerApp({
    database,
    queue,
    statementTimeoutMs,
    log,
    onStrayReply: (fault) => strays.push(fault),
  });
  const base = await app.listen({ port: 0, host: "127.0.0.1" });
  const stop = new AbortController();
  const receiving = receive({ queue, database, log }, stop.signal);

  async function ask(path: string, options: Parameters<typeof request>[1] = {}) {
    const { statusCode: status, headers, body } = await request(base + path, options);
    const text = await body.text();
    const isJson = String(headers["content-type"]).includes("json");
    return { status, headers, text, json: isJson && text !== "" ? JSON.parse(text) : undefined };
  }

  return {
    base,
    database,
    /** Lines of the log, from warnings up. */
    logged,
    ask,
    send: (...messages: object[]) => queue.send(messages.map((message) => JSON.stringify(message))),
    sendText: (...bodies: string[]) => queue.send(bodies),
    /** Waits until the reply has these members. */
    async until(path: string, members: object) {
      await vi.waitFor(async () => expect((await ask(path)).json).toMatchObject(members), {
        timeout: 10_000,
      });
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await receiving;
      await app.close();
      await queue[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      expect(strays).toEqual([]);
    },
  };
}

/** A message about a payment of account 57; a test names what it is about. */
export const message = (change: object) => ({
  event_type: "PAYMENT_CREATED",
  resource_type: "payment",
  resource_external_id: "pay1",
  timestamp: "2024-03-05T09:14:22.018408Z",
  event_details: { gateway_account_id: "57", amount: 4250, reference: "LIC-88" },
  ...change,
});
