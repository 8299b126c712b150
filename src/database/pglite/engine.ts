import { Worker } from "node:worker_threads";
import { messageOf } from "../../process/describe-error.ts";
import { DatabaseUnavailable } from "../database.ts";
import { errorOf, type Message, type Outcome, type Result } from "./message.ts";
import type { Crash, WorkerData } from "./worker.ts";

/** An engine in its own thread, which keeps this process alive only while it works. */
export interface Engine extends AsyncDisposable {
  /** Messages have their results in the order of the calls. Rejects with `DatabaseUnavailable` if the engine ends meanwhile. */
  send(message: Message): Promise<Result>;
  hasEnded(): boolean;
}

/** Limits of the JavaScript heap of an engine. One whose results are larger ends; this process continues. */
const resourceLimits = {
  /** Three semi-spaces of 4 MiB. */
  maxYoungGenerationSizeMb: 12,
  maxOldGenerationSizeMb: 512,
};

export async function startEngine(data: WorkerData): Promise<Engine> {
  const worker = new Worker(new URL("worker.ts", import.meta.url), {
    workerData: data,
    // The flags of this process select what it runs.
    execArgv: [],
    resourceLimits,
  });
  const pending: PromiseWithResolvers<Result>[] = [];
  let ending: Promise<unknown> | undefined;

  function nextResult(): Promise<Result> {
    const received = Promise.withResolvers<Result>();
    if (pending.push(received) === 1) worker.ref();
    return received.promise;
  }
  function end(cause: unknown): void {
    ending ??= worker.terminate();
    for (const { reject } of pending.splice(0)) reject(new DatabaseUnavailable(cause));
  }
  worker.on("message", (message: Outcome | Crash) => {
    if ("crashed" in message) return end(new Error(message.crashed));
    const received = pending.shift();
    if (pending.length === 0) worker.unref();
    if ("result" in message) received?.resolve(message.result);
    else received?.reject(errorOf(message.failure));
  });
  worker.on("error", end);
  worker.on("exit", () => end(new Error("the embedded database has ended")));

  try {
    await nextResult();
  } catch (error) {
    end(error);
    await ending;
    throw new Error(
      `the embedded database in ${data.folder} does not start (${messageOf(error)}); restore the folder from a backup, or remove it and send the messages again`,
      { cause: error },
    );
  }
  async function send(message: Message): Promise<Result> {
    if (ending) throw new DatabaseUnavailable(new Error("the embedded database has ended"));
    worker.postMessage(message);
    return nextResult();
  }
  return {
    send,
    hasEnded: () => ending !== undefined,
    async [Symbol.asyncDispose]() {
      if (!ending) await send("close").catch(() => {});
      end(new Error("the embedded database is closed"));
      await ending;
    },
  };
}
