import { Worker } from "node:worker_threads";
import { messageOf } from "../../process/describe-error.ts";
import { DatabaseUnavailable } from "../database.ts";
import { type Crash, type Message, type Outcome, type Result, resultOf } from "./message.ts";

export type Engine = Awaited<ReturnType<typeof startEngine>>;

/** Limits of the JavaScript heap of an engine. One whose results are larger ends; this process continues. */
const resourceLimits = {
  /** Three semi-spaces of 4 MiB. */
  maxYoungGenerationSizeMb: 12,
  maxOldGenerationSizeMb: 512,
};

/**
 * Starts an engine in its own thread, which keeps this process alive only while it works. The data is in the folder, or in
 * memory.
 */
export async function startEngine(folder: string | undefined) {
  const worker = new Worker(new URL("worker.ts", import.meta.url), {
    workerData: folder,
    // The flags of this process select what it runs.
    execArgv: [],
    resourceLimits,
  });
  const pending: PromiseWithResolvers<Outcome>[] = [];
  let ending: Promise<unknown> | undefined;

  async function nextResult(): Promise<Result> {
    const received = Promise.withResolvers<Outcome>();
    if (pending.push(received) === 1) worker.ref();
    return resultOf(await received.promise);
  }
  function end(cause: unknown): void {
    ending ??= worker.terminate();
    for (const { reject } of pending.splice(0)) reject(new DatabaseUnavailable(cause));
  }
  worker.on("message", (message: Outcome | Crash) => {
    if ("crashed" in message) return end(new Error(message.crashed));
    const received = pending.shift();
    if (pending.length === 0) worker.unref();
    received?.resolve(message);
  });
  worker.on("error", end);
  worker.on("exit", () => end(new Error("the embedded database has ended")));

  try {
    await nextResult();
  } catch (error) {
    end(error);
    await ending;
    throw new Error(
      `the embedded database in ${folder} does not start (${messageOf(error)}); restore the folder from a backup, or remove it and send the messages again`,
      { cause: error },
    );
  }
  async function send(message: Message): Promise<Result> {
    if (ending) throw new DatabaseUnavailable(new Error("the embedded database has ended"));
    worker.postMessage(message);
    return nextResult();
  }
  return {
    /** Messages have their results in the order of the calls. Rejects with `DatabaseUnavailable` if the engine ends meanwhile. */
    send,
    hasEnded: () => ending !== undefined,
    async [Symbol.asyncDispose](): Promise<void> {
      if (!ending) await send("close").catch(() => {});
      end(new Error("the embedded database is closed"));
      await ending;
    },
  };
}
