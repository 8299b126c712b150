import { setTimeout as sleep } from "node:timers/promises";
import { withoutCredentials } from "../../engines/url.ts";
import { messageOf } from "../../process/describe-error.ts";
import { SettingsError } from "../../process/settings.ts";
import { embeddedFolder } from "./address.ts";
import type { Queue } from "./queue.ts";
import { openQueue } from "./queues.ts";
import { explain } from "./sqs/embedded/database.ts";
import { hasSpaceFor } from "./sqs/embedded/disk.ts";
import { readMessage, requireSize } from "./sqs/embedded/message-rules.ts";
import { type Messages, type NewMessage, openMessages } from "./sqs/embedded/messages.ts";
import { SqsError } from "./sqs/embedded/protocol/sqs-error.ts";
import { delayOf, limitOf } from "./sqs/embedded/queue-attributes.ts";

export interface Sender extends AsyncDisposable {
  /** The URL of the queue without credentials. */
  url: string;
  /** Resolves when the queue has accepted all messages. */
  send(bodies: string[]): Promise<void>;
}

/**
 * A sender to the queue at this URL. Messages for an embedded queue are written to its folder, where a ledger finds them that
 * runs now or later.
 */
export async function openSender(queueUrl: string): Promise<Sender> {
  if (queueUrl.startsWith("memory:")) {
    throw new SettingsError(["QUEUE_URL is memory:, to which no other process can send"]);
  }
  if (queueUrl.startsWith("sqs+embedded:")) return openFolder(queueUrl);
  const url = withoutCredentials(queueUrl);
  const queue = await openReachable(queueUrl).catch((error) => {
    throw new Error(`no queue responds at ${url}: ${messageOf(error)}`);
  });
  return {
    url,
    send: (bodies) => queue.send(bodies),
    [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
  };
}

/** How long another process may write meanwhile. */
const busyMaxMs = 30_000;
/** After each transaction others have their turn. */
const pauseMs = 2;

function openFolder(queueUrl: string): Sender {
  const folder = embeddedFolder(new URL(queueUrl));
  const messages = openMessages(folder);
  return {
    url: withoutCredentials(queueUrl),
    async send(bodies) {
      const accepted = bodies.map((body) => acceptMessage(messages, body));
      const bytes = bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0);
      if (!hasSpaceFor(folder, bytes)) throw new Error(`the disk of the folder ${folder} is full`);
      try {
        messages.transaction(() => accepted.map((message) => messages.append(message)), busyMaxMs);
      } catch (error) {
        throw explain(error as Error, folder);
      }
      await sleep(pauseMs);
    },
    async [Symbol.asyncDispose]() {
      messages[Symbol.dispose]();
    },
  };
}

/** Applies the rules of the queue, as its server does. */
function acceptMessage(messages: Messages, body: string): NewMessage {
  try {
    const message = readMessage({ MessageBody: body }, delayOf(messages));
    requireSize(message, limitOf(messages));
    return message;
  } catch (error) {
    if (!(error instanceof SqsError)) throw error;
    throw new Error(`the queue rejected a message: ${error.message.replace(/\.$/, "")}`);
  }
}

async function openReachable(url: string): Promise<Queue> {
  const queue = await openQueue(url);
  try {
    await queue.countWaiting();
    return queue;
  } catch (error) {
    await queue[Symbol.asyncDispose]();
    throw error;
  }
}
