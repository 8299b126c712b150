import { setTimeout as sleep } from "node:timers/promises";
import { withoutCredentials } from "../../engines/url.ts";
import { messageOf } from "../../process/describe-error.ts";
import { SettingsError } from "../../process/settings.ts";
import { embeddedFolder } from "./address.ts";
import type { Queue } from "./queue.ts";
import { openQueue } from "./queues.ts";
import { explain, hasSpaceFor } from "./sqs/embedded/database.ts";
import { readMessage, requireSize } from "./sqs/embedded/message-rules.ts";
import { type Messages, type NewMessage, openMessages } from "./sqs/embedded/messages.ts";
import { SqsError } from "./sqs/embedded/protocol/sqs-error.ts";
import { delayOf, limitOf } from "./sqs/embedded/queue-attributes.ts";

export interface Sender extends AsyncDisposable, Pick<Queue, "send"> {
  /** The URL of the queue without credentials. */
  url: string;
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
  return { ...queue, url };
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
    return requireSize(readMessage({ MessageBody: body }, delayOf(messages)), limitOf(messages));
  } catch (error) {
    if (!(error instanceof SqsError)) throw error;
    throw new Error(`the queue rejected a message: ${error.message.replace(/\.$/, "")}`);
  }
}

async function openReachable(url: string): Promise<Queue> {
  await using opening = new AsyncDisposableStack();
  const queue = opening.use(await openQueue(url));
  await queue.countWaiting();
  opening.move();
  return queue;
}
