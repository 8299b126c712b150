import { withoutCredentials } from "../../process/adapter.ts";
import { messageOf } from "../../process/describe-error.ts";
import { FolderInUse } from "../../process/folder-lock.ts";
import { retry } from "../../process/retry.ts";
import { SettingsError } from "../../process/settings.ts";
import { clientUrl, openQueue, type Queue } from "./queue.ts";

export interface Sender extends AsyncDisposable {
  /** The URL of the queue without credentials. */
  url: string;
  /** Resolves when the queue has accepted all messages. */
  send(bodies: string[]): Promise<void>;
}

/**
 * A client of the queue at this URL. For an embedded queue it connects to the running ledger, also to one that is starting.
 * If none is running, it opens the queue itself, and the messages wait in its folder for the next ledger.
 */
export async function openSender(queueUrl: string): Promise<Sender> {
  if (queueUrl.startsWith("memory:")) {
    throw new SettingsError(["QUEUE_URL is memory:, to which no other process can send"]);
  }
  const url = clientUrl(queueUrl);
  const isEmbedded = url !== queueUrl;
  let queue = await (isEmbedded ? openEmbedded(queueUrl) : openServer(url));
  return {
    url: withoutCredentials(url),
    send: (bodies) =>
      queue.send(bodies).catch(async (error) => {
        if (!isEmbedded) throw error;
        // The process that had the queue may have been another command, which has ended.
        await queue[Symbol.asyncDispose]();
        queue = await openEmbedded(queueUrl);
        await queue.send(bodies);
      }),
    [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
  };
}

const openServer = (url: string): Promise<Queue> =>
  openReachable(url).catch((error) => {
    throw new Error(`no queue responds at ${withoutCredentials(url)}: ${messageOf(error)}`);
  });

/** How long the queue of a ledger that is starting is awaited, in milliseconds. */
const startMaxMs = 30_000;

const openEmbedded = (queueUrl: string): Promise<Queue> =>
  retry(() => openReachable(clientUrl(queueUrl)).catch(() => openQueue(queueUrl)), {
    forMs: startMaxMs,
    // A ledger that has the folder opens its queue soon.
    mayPass: (error) => error instanceof FolderInUse,
  });

async function openReachable(url: string): Promise<Queue> {
  const queue = await openQueue(url);
  try {
    await queue.check();
    return queue;
  } catch (error) {
    await queue[Symbol.asyncDispose]();
    throw error;
  }
}
