import { Admin } from "@platformatic/kafka";
import { createDatabase } from "../bench/create-database.ts";
import {
  type Compression,
  compressions,
  newBatch,
  publishBatch,
} from "../src/ledger/queue/kafka/batch.fixture.ts";
import { allSettled } from "../testing/all-settled.ts";
import { message } from "../testing/messages.ts";
import { startKafka } from "../testing/servers/kafka.ts";
import { startPostgres } from "../testing/servers/postgres.ts";
import type { Attack } from "./attack.ts";
import { type LedgerTarget, migrateAt, runOnLedger } from "./ledger.ts";
import { createSubject } from "./subject.ts";

interface KafkaTarget extends LedgerTarget {
  /** Publishes a batch as it is. */
  publishBatch(batch: Buffer): Promise<void>;
}

const count = 400;
const messageBytes = 900_000;

/** Events with spaces behind them, which compress well. */
const largeEvents = () =>
  Array.from({ length: count }, (_, index) => ({
    value: Buffer.from(
      JSON.stringify(message({ resource_external_id: `large${index}` })).padEnd(messageBytes),
    ),
  }));

const attackWith = (name: string, compression: Compression): Attack<KafkaTarget> => ({
  name: `${count} events of 0.9 MB in one batch, with compression ${name}`,
  async run({ publishBatch, untilProcessed }) {
    await publishBatch(newBatch(largeEvents(), compression));
    await untilProcessed(count);
  },
});

const { gzip, lz4, zstd, "snappy of Java": snappy } = compressions;

export const kafkaSubject = createSubject(
  "ledger-kafka",
  Object.entries({ gzip, snappy, lz4, zstd }).map(([name, compression]) => attackWith(name, compression)),
  async (opened) => {
    const [database, broker] = await allSettled([
      startPostgres().then((server) => opened.use(server)),
      startKafka().then((server) => opened.use(server)),
    ]);
    await migrateAt(await createDatabase(database, "migrated"));
    const admin = new Admin({ clientId: "hostile", bootstrapBrokers: [new URL(broker.url).host] });
    opened.defer(() => admin.close());
    let runs = 0;
    return async (attack) => {
      const name = `run_${runs++}`;
      const url = await createDatabase(database, name, "migrated");
      const configs = [{ name: "max.message.bytes", value: "100000000" }];
      await admin.createTopics({ topics: [name], partitions: 1, configs });
      const own = {
        ...attack,
        run: (target: LedgerTarget) =>
          attack.run({ ...target, publishBatch: (batch) => publishBatch(admin, name, batch) }),
      };
      return runOnLedger(own, url, `${broker.url}/${name}`, false);
    };
  },
);
