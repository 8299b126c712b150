import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Address, Warn } from "../../../../engines/adapter.ts";
import { lockFolder } from "../../../../process/folder-lock.ts";
import { embeddedFolder, embeddedQueue, embeddedQueueUrl } from "../../address.ts";
import type { EmbeddedParameters } from "../../parameters.ts";
import type { Queue } from "../../queue.ts";
import { openStandIn } from "../sqs.ts";
import { queueNames } from "./database.ts";
import type { ServerOptions } from "./server.ts";

/**
 * An SQS server in a thread of this process, on loopback only, with its messages in the folder of the URL. Connects to it as
 * any SQS client.
 */
export async function open({ url, parameters, warn }: Address<EmbeddedParameters>): Promise<Queue> {
  await using opening = new AsyncDisposableStack();
  const folder = embeddedFolder(url);
  opening.use(lockFolder(folder, queueNames, warn));
  const { port, allowed_hosts: allowedHosts } = parameters;
  const { address, close } = await startThread({ folder, port, name: embeddedQueue, allowedHosts }, warn);
  opening.defer(close);
  const queue = opening.use(openStandIn(embeddedQueueUrl(Number(new URL(address).port))));
  const opened = opening.move();
  return { ...queue, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** Starts the server in a thread, since each commit waits for the disk and a message of 1 MB takes milliseconds. */
async function startThread(workerData: ServerOptions, warn: Warn) {
  // The flags of this process select what it runs.
  const worker = new Worker(new URL("server-thread.ts", import.meta.url), { workerData, execArgv: [] });
  const exit = once(worker, "exit");
  type Started = { address?: string; warnings: string[]; error?: Error };
  const [{ address, warnings, error }] = (await once(worker, "message")) as [Started];
  async function close(): Promise<void> {
    worker.postMessage("close");
    await exit;
  }
  if (address !== undefined) {
    for (const warning of warnings) warn(warning);
    return { address, close };
  }
  await worker.terminate();
  if (!error?.message.includes("EADDRINUSE")) throw error;
  const advice = "set QUEUE_URL to sqs+embedded:FOLDER?port=PORT with another port (0 selects a free one)";
  throw new Error(`port ${workerData.port} of the embedded queue is in use by another program; ${advice}`);
}
