import { Worker } from "node:worker_threads";

/** A request of another caller, and the status that it must get. */
export interface Ping {
  method?: string;
  path: string;
  body?: string;
  status: number;
}

export interface PingResult {
  /** The longest time until the end of a response, in milliseconds, without the time that the host took. */
  longestMs: number;
  /** The method and path of that request. */
  longest: string;
  /** A message for each request with another status or without a response. */
  failures: string[];
  count: number;
}

/**
 * Sends pings, one after another on one connection for each, until it is stopped. They have a thread of their own, since
 * the attack keeps this one busy.
 */
export async function startPings(url: string, pings: Ping[]) {
  const worker = new Worker(new URL("pings-worker.ts", import.meta.url), { workerData: { url, pings } });
  const messages = new Map<string, (value: never) => void>();
  const next = <Value>(kind: string) =>
    new Promise<Value>((resolve, reject) => {
      messages.set(kind, resolve);
      worker.once("error", reject);
    });
  worker.on("message", ([kind, value]) => messages.get(kind)?.(value as never));
  await next("started");
  return {
    async stop(): Promise<PingResult> {
      const result = next<PingResult>("result");
      worker.postMessage("stop");
      return result;
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}
