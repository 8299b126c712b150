import { Worker } from "node:worker_threads";
import { messageOf } from "../../process/describe-error.ts";
import { DatabaseUnavailable } from "../database.ts";
import type { Answer, Failure, Message, Result, WorkerData } from "./worker.ts";

/** An engine in its own thread, which keeps this process alive only while it works. */
export interface Engine extends AsyncDisposable {
  /** Messages are answered in the order of the calls. Rejects with `DatabaseUnavailable` if the engine ends meanwhile. */
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
  const unanswered: PromiseWithResolvers<Result>[] = [];
  let ending: Promise<unknown> | undefined;

  function awaitAnswer(): Promise<Result> {
    const answered = Promise.withResolvers<Result>();
    if (unanswered.push(answered) === 1) worker.ref();
    return answered.promise;
  }
  function end(cause: unknown): void {
    ending ??= worker.terminate();
    for (const { reject } of unanswered.splice(0)) reject(new DatabaseUnavailable(cause));
  }
  worker.on("message", (answer: Answer) => {
    if ("crashed" in answer) return end(new Error(answer.crashed));
    const answered = unanswered.shift();
    if (unanswered.length === 0) worker.unref();
    if ("result" in answer) answered?.resolve(answer.result);
    else answered?.reject(errorOf(answer.failure));
  });
  worker.on("error", end);
  worker.on("exit", () => end(new Error("the embedded database has ended")));

  try {
    await awaitAnswer();
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
    return awaitAnswer();
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

/** The error of a failed statement. */
export const errorOf = ({ message, ...rest }: Failure): Error => Object.assign(new Error(message), rest);
