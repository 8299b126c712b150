import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { CreateQueueCommand } from "@aws-sdk/client-sqs";
import type { Address } from "../../process/adapter.ts";
import { lockFolder } from "../../process/folder-lock.ts";
import { type EmbeddedParameters, embeddedQueue, embeddedQueueUrl, type Queue } from "./queue.ts";
import { openStandIn, standInClient } from "./sqs.ts";

/**
 * An SQS server in a thread of this process, on loopback only, durable in the folder of the URL. Creates the queue if it does not
 * exist, and connects to it as any SQS client.
 */
export async function open({ url, parameters }: Address<EmbeddedParameters>): Promise<Queue> {
  await using opening = new AsyncDisposableStack();
  const folder = decodeURIComponent(url.pathname);
  opening.use(lockFolder(folder));
  const { address, close } = await startServer({ folder, port: parameters.port });
  opening.defer(close);
  await createQueue(address);
  const queue = opening.use(openStandIn(embeddedQueueUrl(Number(new URL(address).port))));
  const opened = opening.move();
  return { ...queue, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** Starts the server in a thread, since it needs 30 ms and more for each message of 1 MB. */
async function startServer(workerData: { folder: string; port: number }) {
  // The flags of this process select what it runs.
  const worker = new Worker(new URL("sqs-server.js", import.meta.url), { workerData, execArgv: [] });
  const exit = once(worker, "exit");
  const [{ address, error }] = (await once(worker, "message")) as [{ address?: string; error?: Error }];
  async function close(): Promise<void> {
    worker.postMessage("close");
    await exit;
  }
  if (address !== undefined) return { address, close };
  await worker.terminate();
  if (!error?.message.includes("EADDRINUSE")) throw error;
  const advice = "set QUEUE_URL to sqs+embedded:FOLDER?port=PORT with another port (0 selects a free one)";
  throw new Error(`port ${workerData.port} of the embedded queue is in use by another program; ${advice}`);
}

/** Creates the queue through the API, which leaves an existing queue unchanged. */
async function createQueue(endpoint: string): Promise<void> {
  const client = standInClient(endpoint);
  await client.send(new CreateQueueCommand({ QueueName: embeddedQueue }));
  client.destroy();
}
