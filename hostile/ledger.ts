import { setTimeout as sleep } from "node:timers/promises";
import { createDatabase } from "../bench/create-database.ts";
import { type Database, openDatabase } from "../src/ledger/database/database.ts";
import { clientUrl, openQueue } from "../src/ledger/queue/queue.ts";
import { freePort } from "../testing/free-port.ts";
import { story } from "../testing/messages.ts";
import { startPostgres } from "../testing/servers/postgres.ts";
import { startRabbitmq } from "../testing/servers/rabbitmq.ts";
import { type Target, watch } from "./attack.ts";
import { send } from "./client.ts";
import { attacksOnLedger } from "./ledger-attacks.ts";
import type { OpenSubject, Subject } from "./subject.ts";
import { startWatched } from "./watched-service.ts";

/** A ledger with its queue. */
export interface LedgerTarget extends Target {
  /** Publishes messages and waits until the ledger has processed all of them. */
  publish(messages: (object | string)[]): Promise<void>;
  /** The database; undefined if it is embedded. */
  database: Database | undefined;
}

/** A payment of another account, and the requests of that account. */
const payment = story(
  "payment",
  "other-payment",
  ["09:00", "PAYMENT_CREATED", { gateway_account_id: "other", amount: 100, reference: "R" }],
  ["09:01", "PAYMENT_STARTED"],
);
const pings = [
  { path: "/v1/transaction/other-payment?account_id=other", status: 200 },
  { path: "/v1/transaction?account_id=other", status: 200 },
  { path: "/v1/transaction/other-payment/event?gateway_account_id=other", status: 200 },
];

/** The engines of one run: an empty database and an empty queue. */
interface Engines {
  databaseUrl: string;
  queueUrl: string;
}

export const ledgerSubjects: Subject[] = [
  subject("ledger-postgres", async (opened) => {
    const [database, broker] = [opened.use(await startPostgres()), opened.use(await startRabbitmq())];
    let runs = 0;
    return async () => {
      const name = `run_${runs++}`;
      return { databaseUrl: await createDatabase(database, name), queueUrl: `${broker.url}/?queue=${name}` };
    };
  }),
  subject("ledger-embedded", async () => async () => ({
    databaseUrl: "pglite:./database",
    queueUrl: `sqs+embedded:./queue?port=${await freePort()}`,
  })),
];

function subject(
  name: string,
  openEngines: (opened: AsyncDisposableStack) => Promise<() => Promise<Engines>>,
): Subject {
  const isEmbedded = name === "ledger-embedded";
  return {
    name,
    attacks: attacksOnLedger
      .filter((attack) => !(isEmbedded && attack.needsServer))
      .map((attack) => attack.name),
    async open(): Promise<OpenSubject> {
      await using opening = new AsyncDisposableStack();
      const newEngines = await openEngines(opening);
      const opened = opening.move();
      return {
        async run(attackName) {
          const attack = attacksOnLedger.find((one) => one.name === attackName);
          if (!attack) throw new Error(`there is no attack ${attackName}`);
          const { databaseUrl, queueUrl } = await newEngines();
          const settings = { DATABASE_URL: databaseUrl, QUEUE_URL: queueUrl };
          await using service = await startWatched("ledger", settings, !isEmbedded);
          await using queue = await openQueue(clientUrl(queueUrl));
          await using database = isEmbedded ? undefined : await openDatabase(databaseUrl);
          let published = 0;
          async function publish(messages: (object | string)[]): Promise<void> {
            const bodies = messages.map((message) =>
              typeof message === "string" ? message : JSON.stringify(message),
            );
            while (bodies.length > 0) await queue.send(bodies.splice(0, batchOf(bodies)));
            published += messages.length;
            while ((await processed(service.url)) < published) await sleep(100);
          }
          await publish(payment);
          return await watch({ service, pings, isEmbedded, database, publish }, attack);
        },
        [Symbol.asyncDispose]: () => opened.disposeAsync(),
      };
    },
  };
}

/** The number of bodies to send together: the embedded queue takes 1 MiB at a time. */
function batchOf(bodies: string[]): number {
  let bytes = 0;
  const index = bodies.findIndex((body) => {
    bytes += Buffer.byteLength(body);
    return bytes > 900_000;
  });
  return index === -1 ? Math.min(bodies.length, 200) : Math.max(1, Math.min(index, 200));
}

/** The number of messages that the ledger has stored or made dead letters. */
async function processed(url: string): Promise<number> {
  const metrics = await send(`${url}/metrics`, [200]);
  const counts = metrics.matchAll(/^ledger_messages_total\{outcome="(?!retried)\w+"\} (\d+)$/gm);
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
