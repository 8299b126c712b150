import { startPostgres } from "../../testing/servers/postgres.ts";
import { startRabbitmq } from "../../testing/servers/rabbitmq.ts";
import { createDatabase } from "../create-database.ts";
import type { EventOrder, Workload } from "../payments.ts";
import { startProgram } from "../programs.ts";
import type { Comparison, Row } from "../row.ts";

const orders: EventOrder[] = ["adjacent", "interleaved"];

export const ingest: Row = {
  number: 6,
  title: "ingest, queue in memory",
  async open({ payments }, opened) {
    const postgres = opened.use(await startPostgres());
    const start = async (file: string, database: string) => {
      const DATABASE_URL = await createDatabase(postgres, database);
      return opened.use(await startProgram(file, { DATABASE_URL, QUEUE_URL: "memory:" }));
    };
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
  number: 7,
  title: "ingest from a queue",
  async open({ payments }, opened) {
    const postgres = opened.use(await startPostgres());
    const rabbitmq = opened.use(await startRabbitmq());
    const startIngest = async (database: string, QUEUE_URL: string) => {
      const DATABASE_URL = await createDatabase(postgres, database);
      return opened.use(await startProgram("programs/ingest.ts", { DATABASE_URL, QUEUE_URL }));
    };
    const fromMemory = await startIngest("memory", "memory:");

    /** The ledger cannot be faster than the slower of the client library alone and the ledger without a broker. */
    async function comparison(
      name: string,
      libraryName: string,
      { payments, queue, drain }: { payments: number; queue: string; drain: Parameters<typeof startProgram> },
    ): Promise<Comparison> {
      const workload: Workload = { payments, order: "adjacent" };
      const ours = await startIngest(name, queue);
      const library = opened.use(await startProgram(...drain));
      return {
        name,
        unit: "events/s",
        ours: () => ours.call(workload),
        baseline: {
          name: `the slower of ${libraryName} alone and the ledger without a broker`,
          measure: async () => Math.min(await library.call(workload), await fromMemory.call(workload)),
        },
        target: { atLeast: 0.5 },
      };
    }

    return [
      await comparison("rabbitmq", "amqplib", {
        payments,
        queue: rabbitmq.url,
        drain: ["baselines/drain-rabbitmq.ts", { AMQP_URL: rabbitmq.url }],
      }),
      await comparison("sqs", "@aws-sdk/client-sqs", {
        payments: Math.ceil(payments * embeddedShare),
        queue: "sqs+embedded:./queue?port=0",
        drain: ["baselines/drain-sqs.ts", {}],
      }),
    ];
  },
};
