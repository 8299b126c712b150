import { fileURLToPath } from "node:url";
import { CreateQueueCommand } from "@aws-sdk/client-sqs";
import { buildApp } from "fauxqs";
import type { Address } from "../../process/adapter.ts";
import { lockFolder } from "../../process/folder-lock.ts";
import { type EmbeddedParameters, embeddedQueue, embeddedQueueUrl, type Queue } from "./queue.ts";
import { openStandIn, standInClient } from "./sqs.ts";

type Stores = NonNullable<NonNullable<Parameters<typeof buildApp>[0]>["stores"]>;
interface Persistence {
  loadSqsAndSns(sqs: Stores["sqsStore"], sns: Stores["snsStore"]): void;
  close(): void;
}

/**
 * An SQS server in this process, on loopback only, durable in the folder of the URL. Creates the queue if it does not
 * exist, and connects to it as any SQS client.
 */
export async function open({ url, parameters }: Address<EmbeddedParameters>): Promise<Queue> {
  await using opening = new AsyncDisposableStack();
  const folder = decodeURIComponent(url.pathname);
  opening.use(lockFolder(folder));
  const { app, persistence } = await embeddedServer(folder);
  opening.defer(() => persistence.close());
  opening.defer(() => app.close());
  const address = await app.listen({ host: "127.0.0.1", port: parameters.port });
  await createQueue(address);
  const queue = opening.use(openStandIn(embeddedQueueUrl(Number(new URL(address).port))));
  const opened = opening.move();
  return { ...queue, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/**
 * Assembles the server from the parts of its package, whose own start listens on every interface if it is durable. Parts
 * that are not exported are loaded by their path; the exact version pin keeps that valid.
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

/** Creates the queue through the API, which leaves an existing queue unchanged. */
async function createQueue(endpoint: string): Promise<void> {
  const client = standInClient(endpoint);
  await client.send(new CreateQueueCommand({ QueueName: embeddedQueue }));
  client.destroy();
}
