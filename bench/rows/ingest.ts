import { startPostgres } from "../../testing/servers/postgres.ts";
import { startRabbitmq } from "../../testing/servers/rabbitmq.ts";
import { createDatabase } from "../create-database.ts";
import type { EventOrder, Workload } from "../payments.ts";
import { startProgram } from "../programs.ts";
import type { Comparison, Row } from "../row.ts";

const orders: EventOrder[] = ["adjacent", "interleaved"];

/** Starts a server, and returns what starts a program on a new database of it. */
async function startingOnPostgres(opened: AsyncDisposableStack) {
  const postgres = opened.use(await startPostgres());
  return async (file: string, database: string, QUEUE_URL = "memory:") => {
    const DATABASE_URL = await createDatabase(postgres, database);
    return opened.use(await startProgram(file, { DATABASE_URL, QUEUE_URL }));
  };
}

export const ingest: Row = {
  title: "ingest, queue in memory",
  async open({ payments }, opened) {
    const start = await startingOnPostgres(opened);
    const ours = await start("programs/ingest.ts", "ours");
    const insert = await start("baselines/insert-events.ts", "baseline");
    return orders.map((order) => ({
      name: `events of a payment ${order}`,
      unit: "events/s",
      ours: () => ours.call({ payments, order }),
      baseline: { name: "only the insert of the events", measure: () => insert.call({ payments, order }) },
      target: { atLeast: 0.35 },
    }));
  },
};

/** The embedded queue gets this share of the payments, because it is slower. */
const embeddedShare = 0.1;

export const ingestFromQueues: Row = {
  title: "ingest from a queue",
  async open({ payments }, opened) {
    const start = await startingOnPostgres(opened);
    const rabbitmq = opened.use(await startRabbitmq());
    const fromMemory = await start("programs/ingest.ts", "memory");

    /** The ledger cannot be faster than the slower of the client library alone and the ledger without a broker. */
    async function compareWith(
      library: string,
      name: "rabbitmq" | "sqs",
      queue: string,
      share: number,
    ): Promise<Comparison> {
      const workload: Workload = { payments: Math.ceil(payments * share), order: "adjacent" };
      const ours = await start("programs/ingest.ts", name, queue);
      const env = { AMQP_URL: rabbitmq.url };
      const alone = opened.use(await startProgram(`baselines/drain-${name}.ts`, env));
      return {
        name,
        unit: "events/s",
        ours: () => ours.call(workload),
        baseline: {
          name: `the slower of ${library} alone and the ledger without a broker`,
          measure: async () => Math.min(await alone.call(workload), await fromMemory.call(workload)),
        },
        target: { atLeast: 0.5 },
      };
    }

    return [
      await compareWith("amqplib", "rabbitmq", rabbitmq.url, 1),
      await compareWith("@aws-sdk/client-sqs", "sqs", "sqs+embedded:./queue?port=0", embeddedShare),
    ];
  },
};
