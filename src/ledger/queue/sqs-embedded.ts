import { fileURLToPath } from "node:url";
import { CreateQueueCommand } from "@aws-sdk/client-sqs";
import { buildApp } from "fauxqs";
import { lockFolder } from "../../process/folder-lock.ts";
import { embeddedPortOf, embeddedQueue, embeddedQueueUrl, type Queue } from "./queue.ts";
import { openStandIn, standInClient } from "./sqs.ts";

type Stores = NonNullable<NonNullable<Parameters<typeof buildApp>[0]>["stores"]>;
interface Persistence {
  loadSqsAndSns(sqs: Stores["sqsStore"], sns: Stores["snsStore"]): void;
  close(): void;
}

/**
 * Runs an SQS server inside this process, on the loopback address only and durable in the URL's folder, makes the
 * queue if it is not there, and then is a client of it like any other.
 */
export async function open(url: URL): Promise<Queue> {
  await using opening = new AsyncDisposableStack();
  const folder = decodeURIComponent(url.pathname);
  opening.use(lockFolder(folder));
  const { app, persistence } = await embeddedServer(folder);
  opening.defer(() => persistence.close());
  opening.defer(() => app.close());
  const address = await app.listen({ host: "127.0.0.1", port: embeddedPortOf(url) });
  await createQueue(address);
  const queue = opening.use(openStandIn(embeddedQueueUrl(Number(new URL(address).port))));
  const opened = opening.move();
  return { ...queue, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/**
 * The package's own start listens on every interface when it is durable, so its parts are put together here; those it
 * does not export are loaded by their place in it, which the exact pin holds still.
 */
async function embeddedServer(folder: string) {
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

/** Through the client, which leaves a queue that is there as it is. */
async function createQueue(endpoint: string): Promise<void> {
  const client = standInClient(endpoint);
  await client.send(new CreateQueueCommand({ QueueName: embeddedQueue }));
  client.destroy();
}
