import { setTimeout as sleep } from "node:timers/promises";
import { createDatabase } from "../bench/create-database.ts";
import type { Database } from "../src/database/database.ts";
import { openDatabase } from "../src/database/databases.ts";
import { clientUrl } from "../src/ledger/queue/address.ts";
import { openQueue } from "../src/ledger/queue/queues.ts";
import { migrate } from "../src/ledger/tables/migrate.ts";
import { inChunks } from "../src/values/chunks.ts";
import { allSettled } from "../testing/all-settled.ts";
import { freePort } from "../testing/free-port.ts";
import { story } from "../testing/messages.ts";
import { startPostgres } from "../testing/servers/postgres.ts";
import { startRabbitmq } from "../testing/servers/rabbitmq.ts";
import { type Attack, type Outcome, type Target, watch } from "./attack.ts";
import { send } from "./client.ts";
import { attacksOnLedger } from "./ledger-attacks.ts";
import { createSubject, type Subject } from "./subject.ts";
import { startWatched } from "./watched-service.ts";

/** A ledger with its queue. */
export interface LedgerTarget extends Target {
  /** Publishes messages and waits until the ledger has processed all of them. */
  publish(messages: (object | string)[]): Promise<void>;
  /** Waits until the ledger has processed as many further messages. */
  untilProcessed(count: number): Promise<void>;
  /** The database; undefined if it is embedded. */
  database: Database | undefined;
}

/** A payment of another account. */
const paymentOf = (id: string) =>
  story(
    "payment",
    id,
    ["09:00", "PAYMENT_CREATED", { gateway_account_id: "other", amount: 100, reference: "R" }],
    ["09:01", "PAYMENT_STARTED"],
  );
const payment = paymentOf("other-payment");
/** The requests of another caller for it. */
const pings = [
  { path: "/v1/transaction/other-payment?account_id=other", status: 200 },
  { path: "/v1/transaction?account_id=other", status: 200 },
  { path: "/v1/transaction/other-payment/event?gateway_account_id=other", status: 200 },
  { path: "/v1/report/transactions?account_id=other&group_by=day", status: 200 },
  { path: "/v1/dead-letter/999999999", status: 404 },
  { method: "POST", path: "/v1/event", body: "[]", status: 202 },
];

export const ledgerSubjects: Subject[] = [
  createSubject("ledger-postgres", attacksOnLedger, async (opened) => {
    const [database, broker] = await allSettled([
      startPostgres().then((server) => opened.use(server)),
      startRabbitmq().then((server) => opened.use(server)),
    ]);
    await migrateAt(await createDatabase(database, "migrated"));
    let runs = 0;
    return async (attack) => {
      const name = `run_${runs++}`;
      const url = await createDatabase(database, name, "migrated");
      return runOnLedger(attack, url, `${broker.url}/?queue=${name}`, false);
    };
  }),
  createSubject(
    "ledger-embedded",
    attacksOnLedger.filter(({ needsServer }) => !needsServer),
    async () => async (attack) =>
      runOnLedger(attack, "pglite:./database", `sqs+embedded:./queue?port=${await freePort()}`, true),
  ),
];

export async function migrateAt(databaseUrl: string): Promise<void> {
  await using database = await openDatabase(databaseUrl);
  await migrate(database);
}

/** The embedded queue takes 1 MiB at a time. */
const sentBytesMax = 900_000;
const sentMax = 200;
/** A plan is kept from the sixth run of a statement. */
const warmRounds = 10;

/** Starts a ledger and runs an attack against it. */
export async function runOnLedger(
  attack: Attack<LedgerTarget>,
  databaseUrl: string,
  queueUrl: string,
  isEmbedded: boolean,
): Promise<Outcome> {
  const settings = { DATABASE_URL: databaseUrl, QUEUE_URL: queueUrl, EVENT_WRITES: "true" };
  await using service = await startWatched("ledger", settings, !isEmbedded);
  await using queue = await openQueue(clientUrl(queueUrl));
  await using database = isEmbedded ? undefined : await openDatabase(databaseUrl);
  let published = 0;
  async function publish(messages: (object | string)[]): Promise<void> {
    const bodies = messages.map((message) =>
      typeof message === "string" ? message : JSON.stringify(message),
    );
    for (const chunk of inChunks(bodies, Buffer.byteLength, sentBytesMax, sentMax)) await queue.send(chunk);
    await untilProcessed(messages.length);
  }
  async function untilProcessed(count: number): Promise<void> {
    published += count;
    while ((await processed(service.url)) < published) await sleep(100);
  }
  await publish(payment);
  // The first runs of a statement take the embedded database several times as long.
  for (let round = 0; round < (isEmbedded ? warmRounds : 0); round += 1) {
    await publish(Array.from({ length: 20 }, (_, index) => paymentOf(`warm-${round}-${index}`)).flat());
    for (const { path, method, status } of pings) if (!method) await send(`${service.url}${path}`, [status]);
  }
  const target = { url: service.url, service, pings, isEmbedded, database, publish, untilProcessed };
  return await watch(target, attack);
}

/** The number of messages that the ledger has stored or made dead letters. */
async function processed(url: string): Promise<number> {
  const metrics = await send(`${url}/metrics`, [200]);
  const counts = metrics.matchAll(/^ledger_messages_total\{outcome="(?!retried)\w+"\} (\d+)$/gm);
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
