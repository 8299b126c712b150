import { startPostgres } from "../../testing/servers/postgres.ts";
import { startRabbitmq } from "../../testing/servers/rabbitmq.ts";
import { makeDatabase } from "../databases.ts";
import type { Intake } from "../payments.ts";
import { startProgram } from "../programs.ts";
import type { Comparison, Row } from "../row.ts";

/** The embedded queue's messages, to a ledger's from a broker: it is so much slower. */
const embeddedShare = 0.1;

export const ingestFromQueues: Row = {
  number: 7,
  work: "ingest from a queue",
  async open({ payments }, opened) {
    const postgres = opened.use(await startPostgres());
    const rabbitmq = opened.use(await startRabbitmq());
    const intakeFrom = async (database: string, QUEUE_URL: string) => {
      const DATABASE_URL = await makeDatabase(postgres, database);
      return opened.use(await startProgram("programs/ingest.ts", { DATABASE_URL, QUEUE_URL }));
    };
    const fromMemory = await intakeFrom("memory", "memory:");

    /** Who only takes messages, or only stores what they tell, is as fast as we could be at the most. */
    async function comparison(
      name: string,
      library: string,
      {
        payments,
        queue,
        drain,
      }: { payments: number; queue: string; drain: [string, Record<string, string>] },
    ): Promise<Comparison> {
      const intake: Intake = { payments, order: "together" };
      const ours = await intakeFrom(name, queue);
      const draining = opened.use(await startProgram(...drain));
      return {
        name,
        unit: "events/s",
        ours: () => ours.ask(intake),
        baseline: {
          name: `the slower of ${library} without work and the ledger without a broker`,
          measure: async () => Math.min(await draining.ask(intake), await fromMemory.ask(intake)),
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
