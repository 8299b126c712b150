import { clientUrl, openQueue } from "./queue.ts";

export interface Sender extends AsyncDisposable {
  /** Where the messages go. */
  url: string;
  /** Resolves when the queue has accepted all of them. */
  send(bodies: string[]): Promise<void>;
}

/** A client of the queue at this URL. An embedded queue is that of the ledger that runs, which must be running. */
export async function openSender(queueUrl: string): Promise<Sender> {
  const url = clientUrl(queueUrl);
  const queue = await openQueue(url);
  try {
    await queue.check();
  } catch {
    await queue[Symbol.asyncDispose]();
    throw new Error(
      `no queue answers at ${url}${url === queueUrl ? "" : "; is the ledger running (npm start)?"}`,
    );
  }
  return { url, send: queue.send, [Symbol.asyncDispose]: queue[Symbol.asyncDispose] };
}
