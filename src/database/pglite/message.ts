import type { Statement } from "./query.ts";

/** A statement, a script without values, or the end of the engine. */
export type Message = Statement | { script: string } | "close";

/** What is sent back for a message. */
export type Outcome = { result: Result } | { failure: Failure };

/** Sent before the thread of an engine ends, with the reason. */
export type Crash = { crashed: string };

export interface Result {
  columns: string[];
  rows: unknown[][];
  /** Indexes of the columns whose values are the text of JSON. Values with exact numbers cannot be sent to another thread. */
  json: number[];
  /** The command that ran last, as the engine names it: `rollback` at the end of a failed transaction, also for `commit`. */
  command: string | undefined;
}

/** The known parts of an error. Its other properties would be statements and their values. */
interface Failure {
  message: string;
  code?: string;
  file?: string;
  routine?: string;
}

export const settle = (work: Promise<Result>): Promise<Outcome> =>
  work.then(
    (result) => ({ result }),
    ({ message, code, file, routine }: Failure) => ({ failure: { message, code, file, routine } as Failure }),
  );

/** The result in an outcome. Throws the error of a failed statement. */
export function resultOf(outcome: Outcome): Result {
  if ("result" in outcome) return outcome.result;
  const { message, ...rest } = outcome.failure;
  throw Object.assign(new Error(message), rest);
}
