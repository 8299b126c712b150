import { fileURLToPath } from "node:url";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { buildApp } from "fauxqs";

// The thread of the embedded SQS server. It answers once when it listens, and ends after a message.

export interface ServerData {
  /** The folder of the messages. */
  folder: string;
  /** The port on loopback; 0 for any free one. */
  port: number;
}

/** The URL of the server, or why it does not start. */
export type ServerAnswer = { address: string } | { error: Error };

type Stores = NonNullable<NonNullable<Parameters<typeof buildApp>[0]>["stores"]>;
interface Persistence {
  loadSqsAndSns(sqs: Stores["sqsStore"], sns: Stores["snsStore"]): void;
  close(): void;
}

/**
 * Assembles the server from the parts of its package, whose own start listens on every interface if it is durable. Parts
 * that are not exported are loaded by their path; the exact version pin keeps that valid.
 */
async function createServer(folder: string) {
  const part = (path: string) => import(fileURLToPath(new URL(path, import.meta.resolve("fauxqs"))));
  const [{ SqsStore }, { SnsStore }, { S3Store }, { PersistenceManager }] = await Promise.all(
    ["sqs/sqsStore.js", "sns/snsStore.js", "s3/s3Store.js", "persistence.js"].map(part),
  );
  const stores: Stores = { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store: new S3Store() };
  const persistence: Persistence = new PersistenceManager(folder);
  persistence.loadSqsAndSns(stores.sqsStore, stores.snsStore);
  Object.assign(stores.sqsStore, { persistence });
  Object.assign(stores.snsStore, { persistence });
  for (const queue of stores.sqsStore.allQueues()) Object.assign(queue, { persistence });
  return { app: buildApp({ logger: false, stores }), persistence };
}

async function serve(parent: MessagePort, { folder, port }: ServerData): Promise<void> {
  const answer = (message: ServerAnswer) => parent.postMessage(message);
  try {
    const { app, persistence } = await createServer(folder);
    parent.once("message", async () => {
      await app.close();
      persistence.close();
    });
    answer({ address: await app.listen({ host: "127.0.0.1", port }) });
  } catch (error) {
    answer({ error: error as Error });
  }
}

if (parentPort) await serve(parentPort, workerData);
