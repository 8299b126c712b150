import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { request as undiciRequest } from "undici";
import { afterAll, expect } from "vitest";
import type { LedgerEvent } from "../../../simulation/ledger/messages.ts";
import { feedViolation } from "../../../testing/delivery-check.ts";
import { listen } from "../../../testing/event-stream.ts";
import { eventually } from "../../../testing/eventually.ts";
import { linkIn } from "../../../testing/link-header.ts";
import { type EventMessage, type Step, story } from "../../../testing/messages.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import { mediaTypeOf } from "../../contract/response-check.ts";
import type { Database } from "../../database/database.ts";
import type { Security } from "../../http/access/security.ts";
import { openLog } from "../../process/log.ts";
import { readSettings } from "../../process/settings.ts";
import { pounds } from "../../values/currency.ts";
import { openRecorder } from "../access/recorder.ts";
import { ledgerApp } from "../app.ts";
import { openIntake } from "../intake/intake.ts";
import { createReceiver, type ReceiverLimits } from "../intake/receiver.ts";
import { shareNews } from "../intake/share-news.ts";
import { openQueue } from "../queue/queues.ts";
import { openCursors } from "../requests/cursor.ts";
import { receiverLimits, settings } from "../settings.ts";
import { continueFeed } from "../tables/feed/feed.ts";
import { addToFreshnessMinutes } from "../tables/freshness-minute.ts";
import { cursorKeyOf, ledgerIdOf } from "../tables/identity.ts";
import { addToIntakeMinutes } from "../tables/intake-minute.ts";
import { openLedgerDatabase } from "../tables/ledger-database.fixture.ts";
import { migrate } from "../tables/migrate.ts";
import { countingSql } from "../tables/rows-read.fixture.ts";
import type { Signer } from "../transparency/note.ts";
import { startSealing } from "../transparency/sealing.ts";
import type { WitnessSetting } from "../transparency/witness.ts";

/**
 * Starts the API and a receiver, by default on a new empty database. Disposal fails if a response has violated the
 * contract.
 */
export async function startLedger({
  statementTimeoutMs = testWaitMaxMs,
  open = openLedgerDatabase,
  queueUrl = "memory:",
  replica = undefined as Database | undefined,
  security = undefined as Security | undefined,
  accountsClaim = "accounts",
  eventWrites = false,
  trustedProxies = [] as string[],
  currency = pounds,
  mcp = false,
  signer = undefined as Signer | undefined,
  witnesses = [] as WitnessSetting[],
  isReasonRequired = false,
  journalBytesMax = undefined as number | undefined,
  limits = {} as Partial<ReceiverLimits>,
} = {}) {
  const logged: string[] = [];
  const log = openLog("warn", { write: (line) => logged.push(line) });
  const opened = new AsyncDisposableStack();
  const database = opened.use(await open());
  await migrate(database);
  await continueFeed(database);
  const queue = opened.use(await openQueue(queueUrl));
  const metrics = new Registry();
  const intake = openIntake(database, currency, metrics, log);
  const receiver = createReceiver({
    queue,
    database,
    intake,
    log,
    limits: { ...receiverLimits(readSettings({}, settings)), ...limits },
  });
  const intakeOfRequests = eventWrites ? intake : undefined;
  const ledgerId = await ledgerIdOf(database);
  const sealing =
    signer &&
    opened.use(
      startSealing({ database, signer, witnesses, log, isBusy: () => false }, { idleMs: 20, everyMs: 0 }),
    );
  const parts = {
    sealing,
    publishesLog: signer !== undefined,
    ledgerId,
    currency,
    database,
    replica,
    queue,
    receiver,
    intake: intakeOfRequests,
    news: opened.use(shareNews(database, intake.news)).news,
    statementTimeoutMs,
  };
  const { app } = opened.use(
    await openApp(
      { ...parts, security, accountsClaim, trustedProxies, mcp, isReasonRequired, log, metrics },
      journalBytesMax,
    ),
  );
  const base = await app.listen({ port: 0, host: "127.0.0.1" });
  const stop = new AbortController();
  const receiving = receiver.run(stop.signal);

  async function request(path: string, options: Parameters<typeof undiciRequest>[1] = {}) {
    const { statusCode: status, headers, body } = await undiciRequest(base + path, options);
    const text = await body.text();
    const type = mediaTypeOf(headers);
    if (type === "application/x-ndjson") expect(feedViolation(type, text)).toBeUndefined();
    const isJson = /[/+]json/.test(type);
    return { status, headers, text, json: isJson && text !== "" ? JSON.parse(text) : undefined };
  }

  /** Sends a GET request that succeeds. Resolves with its JSON. */
  async function get(path: string, headers: Record<string, string> = {}) {
    const { status, json } = await request(path, { headers });
    expect([path, status]).toEqual([path, 200]);
    return json;
  }

  /** Follows the feed as server-sent events. Its events are held against the contract when they are read. */
  async function listenToFeed(query = "", headers = {}) {
    const stream = await listen(base, `/v1/event${query}`, headers);
    return {
      ...stream,
      events() {
        expect(feedViolation("text/event-stream", stream.text())).toBeUndefined();
        return stream.events();
      },
    };
  }

  return {
    base,
    listenToFeed,
    database,
    metrics,
    cursors: openCursors(await cursorKeyOf(database)),
    /** The log lines of level warn and above. */
    logged,
    request,
    get,
    /** Sends a GET request that gets an HTTP error. Resolves with the status and the messages. */
    async getError(path: string, headers: Record<string, string> = {}): Promise<[number, string]> {
      const { status, json, headers: received } = await request(path, { headers });
      expect([path, received["content-type"]]).toEqual([path, "application/problem+json; charset=utf-8"]);
      return [status, json.message.join("; ")];
    },
    /** Follows the header `Link`, or a link of the body, from page to page until one lacks it. Resolves with all pages. */
    async pages(path: string, link?: string, afterEach = async (_page: number) => {}) {
      const pages = [];
      for (let next: string | undefined = path; next !== undefined; ) {
        const { status, json, headers } = await request(next);
        expect([next, status]).toEqual([next, 200]);
        const page: Page = json;
        pages.push(page);
        expect(pages.length).toBeLessThan(100);
        const href = link === undefined ? linkIn(headers) : page._links?.[link]?.href;
        next = href?.slice(base.length);
        await afterEach(pages.length);
      }
      return pages;
    },
    /** Saves what became of the messages until now, as a process does every few seconds. */
    async saveIntake() {
      await addToIntakeMinutes(database, intake.minutes.take());
      await addToFreshnessMinutes(database, intake.freshness.take());
    },
    send: (...messages: object[]) => queue.send(messages.map((message) => JSON.stringify(message))),
    sendText: (...bodies: string[]) => queue.send(bodies),
    /** Sends events of new transactions or payouts, and waits until they are stored. */
    async store(...stories: object[][]) {
      const messages = stories.flat() as { resource_external_id: string }[];
      const ids = [...new Set(messages.map(({ resource_external_id }) => resource_external_id))];
      const loggedBefore = logged.length;
      await queue.send(messages.map((message) => JSON.stringify(message)));
      await eventually(async () => {
        const stored = await database.query("select from event where resource_external_id = any($1)", [ids]);
        // Tests send events of types that the contract does not list.
        const others = logged.slice(loggedBefore).filter((line) => !line.includes('"eventType"'));
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
      await opened.disposeAsync();
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the contract is checked in every response, and each test knows its list.
type Page = Record<string, any> & { _links?: Record<string, { href: string }> };

/** Starts a ledger for all tests of a file, which is disposed after them. */
export async function ledgerOfFile(options: Parameters<typeof startLedger>[0] = {}) {
  const ledger = await startLedger(options);
  afterAll(() => ledger[Symbol.asyncDispose]());
  return ledger;
}

/** The API alone, on this database and with these parts. Disposal fails if a response has violated the contract. */
export async function openApp(
  parts: Partial<Parameters<typeof ledgerApp>[0]> & { database: Database },
  journalBytesMax?: number,
) {
  const violations: string[] = [];
  const queue = await openQueue("memory:");
  const log = openLog("silent");
  await using opened = new AsyncDisposableStack();
  const folder = parts.security && opened.use(await mkdtempDisposable(join(tmpdir(), "journal-")));
  const recorder = folder && openRecorder(folder.path, parts.log ?? log, journalBytesMax);
  if (recorder) opened.use(await recorder.open(parts.database));
  const app = await ledgerApp({
    ledgerId: "ledger",
    currency: pounds,
    cursorKey: await cursorKeyOf(parts.database),
    queue,
    statementTimeoutMs: testWaitMaxMs,
    log,
    accessLog: recorder,
    onViolation: (violation) => violations.push(violation),
    ...parts,
  });
  const kept = opened.move();
  return {
    app,
    async [Symbol.asyncDispose]() {
      await app.close();
      await kept[Symbol.asyncDispose]();
      await queue[Symbol.asyncDispose]();
      expect(violations).toEqual([]);
    },
  };
}

/** The database, and the numbers of statements of requests and of the rows that they have read. */
export function countingDatabase(database: Database) {
  const counts = { statements: 0, rows: 0 };
  const within: Database["within"] = (limitMs) => countingSql(database.within(limitMs), counts);
  return { counts, database: { ...database, within } };
}

/** The event of a message without other members, as the model of the simulation has it. */
export const modelEvent = (message: EventMessage) =>
  ({ parent_resource_external_id: null, service_id: null, live: null, ...message }) as LedgerEvent;

/** The messages of a payment that is created at 10:00 with these details, and of further events. */
export const payment = (id: string, details: object = {}, ...steps: Step[]) =>
  story("payment", id, ["10:00", "PAYMENT_CREATED", details], ...steps);
