/** An event for a target. */
export interface PublishedEvent {
  /** The same in every attempt, for consumers that get an event again; different from that of any event of another ledger. */
  id: string;
  /** The resource whose events are to stay in order. */
  key: string;
  /** The type of the resource and that of the event, such as `payment.PAYMENT_CREATED`. */
  routingKey: string;
  /** When the event happened, UTC. */
  timestamp: string;
  /** JSON. */
  body: string;
  contentType: string;
  /** When the ledger accepted the event, if that is known. */
  acceptedAt?: string | null;
}

/** Why an attempt has failed. */
export interface Failure {
  /**
   * `event`: the target is there, and rejects the event; others can succeed. `target`: the target limits what it takes, and
   * the failure says nothing about the event. `unknown`: both can be the cause, as the attempts for other events show.
   */
  cause: "event" | "target" | "unknown";
  /** A text of `reason.ts`. */
  reason: string;
  /** When the target takes events again, in milliseconds. Default: it has not said so. */
  retryAfterMs?: number;
}

/** Where events are published. */
export interface Target extends AsyncDisposable {
  /** The number of calls of `send` that may be in flight. */
  readonly requestsAtATime: number;
  /** The number of events in a call of `send`. */
  readonly eventsAtATime: number;
  /**
   * Sends events, no two of the same resource. Resolves with the failure of each; undefined if the target has confirmed it.
   * Does not reject. When `stop` aborts, the attempts that are under way fail.
   */
  send(deliveries: PublishedEvent[], stop: AbortSignal): Promise<(Failure | undefined)[]>;
}
