import { messageOf } from "../../process/describe-error.ts";
import { SettingsError } from "../../process/settings.ts";
import { clientUrl, openQueue, type Queue } from "./queue.ts";

export interface Sender extends AsyncDisposable {
  /** The URL of the queue without credentials. */
  url: string;
  /** Resolves when the queue has accepted all messages. */
  send(bodies: string[]): Promise<void>;
}

/**
 * A client of the queue at this URL. For an embedded queue it connects to the running ledger. If none is running, it opens
 * the queue itself, and the messages wait in its folder for the next ledger.
 */
export async function openSender(queueUrl: string): Promise<Sender> {
  if (new URL(queueUrl).protocol === "memory:") {
    throw new SettingsError(["QUEUE_URL is memory:, to which no other process can send"]);
  }
  const url = clientUrl(queueUrl);
  const queue = await openReachable(url).catch((error) => {
    if (url === queueUrl)
      throw new Error(`no queue responds at ${withoutCredentials(url)}: ${messageOf(error)}`);
    return openQueue(queueUrl);
  });
  return {
    url: withoutCredentials(url),
    send: queue.send,
    [Symbol.asyncDispose]: queue[Symbol.asyncDispose],
  };
}

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

function withoutCredentials(text: string): string {
  const url = new URL(text);
  url.username = "";
  url.password = "";
  return url.href;
}
