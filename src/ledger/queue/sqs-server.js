import { fileURLToPath } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { buildApp } from "fauxqs";

// The thread of the embedded SQS server. Its data is the folder of the messages and the port on loopback. It posts
// `{ address }` when it listens, or `{ error }`, and ends after a message. It is JavaScript because Node.js would load a
// compiler of 16 MiB into the thread to remove types.

/**
 * Assembles the server from the parts of its package, whose own start listens on every interface if it is durable. Parts
 * that are not exported are loaded by their path; the exact version pin keeps that valid.
 */
async function createServer(folder) {
  const part = (path) => import(fileURLToPath(new URL(path, import.meta.resolve("fauxqs"))));
  const [{ SqsStore }, { SnsStore }, { S3Store }, { PersistenceManager }] = await Promise.all(
    ["sqs/sqsStore.js", "sns/snsStore.js", "s3/s3Store.js", "persistence.js"].map(part),
  );
  const stores = { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store: new S3Store() };
  const persistence = new PersistenceManager(folder);
  persistence.loadSqsAndSns(stores.sqsStore, stores.snsStore);
  Object.assign(stores.sqsStore, { persistence });
  Object.assign(stores.snsStore, { persistence });
  for (const queue of stores.sqsStore.allQueues()) Object.assign(queue, { persistence });
  return { app: buildApp({ logger: false, stores }), persistence };
}

try {
  const { app, persistence } = await createServer(workerData.folder);
  parentPort.once("message", async () => {
    await app.close();
    persistence.close();
  });
  parentPort.postMessage({ address: await app.listen({ host: "127.0.0.1", port: workerData.port }) });
} catch (error) {
  parentPort.postMessage({ error });
}
