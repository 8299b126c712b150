import type { Commit } from "./group-commit.ts";
import type { Waits } from "./long-polling.ts";
import type { Messages } from "./messages.ts";
import type { Input } from "./protocol/input.ts";

/** The parts of the server that operations use. */
export interface ServedQueue {
  name: string;
  messages: Messages;
  commit: Commit;
  waits: Waits;
  /** True if the disk has space for so many bytes of messages. */
  hasSpaceFor(bytes: number): boolean;
  /** Called after a purge. */
  clean(): void;
}

/** The sender of a request. */
export interface Caller {
  /** The host and port by which the client reached the server. */
  host: string;
  region: string;
  /** Aborts when the connection of the client has ended. */
  signal: AbortSignal;
  /** True if the server has memory for messages in a response. */
  mayDeliver(): boolean;
  /** Counts bytes of messages in the response to this caller, until it is sent. */
  deliver(bytes: number): void;
}

export type Output = Record<string, unknown>;
/** Throws an `SqsError`. */
export type Operation = (queue: ServedQueue, input: Input, caller: Caller) => Promise<Output> | Output;

export const account = "000000000000";
