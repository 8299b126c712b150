import { messageOf } from "../../process/describe-error.ts";
import { SettingsFault } from "../../process/settings.ts";
import { clientUrl, openQueue, type Queue } from "./queue.ts";

export interface Sender extends AsyncDisposable {
  /** Where the messages go, without credentials. */
  url: string;
  /** Resolves when the queue has accepted all of them. */
  send(bodies: string[]): Promise<void>;
}

/**
 * A client of the queue at this URL. An embedded queue is that of the ledger that runs; when none does, it is opened
 * here, and what is sent waits in its folder for the next ledger.
 */
export async function openSender(queueUrl: string): Promise<Sender> {
  if (new URL(queueUrl).protocol === "memory:") {
    throw new SettingsFault(["QUEUE_URL is memory:, which only its own process can send to"]);
  }
  const url = clientUrl(queueUrl);
  const queue = await openAnswering(url).catch((error) => {
    if (url === queueUrl)
      throw new Error(`no queue answers at ${withoutCredentials(url)}: ${messageOf(error)}`);
    return openQueue(queueUrl);
  });
  return {
    url: withoutCredentials(url),
    send: queue.send,
    [Symbol.asyncDispose]: queue[Symbol.asyncDispose],
  };
}

async function openAnswering(url: string): Promise<Queue> {
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
