/** An in-flight message. It is delivered again, to any receiver, unless it is acknowledged. */
export interface ReceivedMessage {
  /** The queue's id of the message, the same for every delivery. */
  id: string;
  body: string;
  /** The bytes of a body that is not valid UTF-8, or has a content encoding; `body` is then an approximation. */
  bytes?: Uint8Array;
  /** The content encoding of `bytes`, in lower case. Default: none. */
  contentEncoding?: string;
  /** Size of the body in bytes. Of one in gzip, that of its content as it declares it, if that is larger. */
  size: number;
  /** 1 at the first delivery. */
  attempt: number;
  /** Identifies this delivery of the message for the queue. */
  receipt: string;
  /** When the message was sent, in milliseconds since 1970 (UTC), if the queue has it. */
  sentAt?: number;
}

/** How producers reach a queue. It has no credentials. */
export type QueueAddress =
  /** A stand-in for Amazon SQS accepts any credentials. */
  | { kind: "stand-in" | "amazon"; url: string; endpoint: string; region: string }
  | { kind: "rabbitmq"; url: string; queue: string }
  /** `url` is the hosts with their ports, separated by commas. */
  | { kind: "kafka"; url: string; topic: string };

/** Delivers at least once, in any order, to any number of receivers. */
export interface Queue extends AsyncDisposable {
  /** Undefined if other processes cannot reach the queue. */
  address?: QueueAddress;
  /**
   * Waits up to `waitMs` milliseconds for a message and resolves with up to `max`, fewer if they are large. Resolves with
   * none if `stop` aborts first.
   */
  receive(max: number, waitMs: number, stop: AbortSignal): Promise<ReceivedMessage[]>;
  /** The messages are not delivered again, unless the queue fails meanwhile. */
  acknowledge(messages: ReceivedMessage[]): Promise<void>;
  /** The messages are delivered again after the delay, in milliseconds. */
  retry(messages: ReceivedMessage[], delayMs: number): Promise<void>;
  /** Resolves when the queue has accepted all messages. */
  send(bodies: string[]): Promise<void>;
  /** The approximate number of messages to deliver. Rejects if the queue cannot be reached. */
  countWaiting(): Promise<number>;
  /** Why a part of the messages does not reach this receiver until an operator acts; undefined if all can. Default: all can. */
  problem?(): string | undefined;
}
