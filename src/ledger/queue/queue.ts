import {
  type Adapter,
  type Adapters,
  isPort,
  isWholeNumber,
  openAdapter,
  portRange,
  type Warn,
} from "../../process/adapter.ts";

/** A message in hand: it comes again, to any receiver, unless it is acknowledged. */
export interface Delivery {
  /** The queue's id of the message, the same at every attempt. */
  id: string;
  body: string;
  /** The body as it came, when that is no text in UTF-8, as every message must be; `body` only gives an idea of it then. */
  bytes?: Uint8Array;
  /** Of the body as it came, in bytes. */
  size: number;
  /** 1 at the first delivery. */
  attempt: number;
  /** What the queue wants to hear to know this delivery from others of the message. */
  receipt: string;
  /** When it was sent, in milliseconds since 1970, where the queue knows. */
  sentAt?: number;
}

/** At-least-once, in no promised order, to any number of receivers. */
export interface Queue extends AsyncDisposable {
  /**
   * Waits for a delivery, `waitMs` milliseconds at most, and takes up to `max` of those that are there, fewer where they
   * are large; none when `stop` aborts first.
   */
  receive(max: number, waitMs: number, stop: AbortSignal): Promise<Delivery[]>;
  /** Done with: they do not come again, unless the queue fails meanwhile. */
  acknowledge(deliveries: Delivery[]): Promise<void>;
  /** They come again after the pause, in milliseconds. */
  putBack(deliveries: Delivery[], pauseMs: number): Promise<void>;
  /** Resolves when the queue has accepted all of them. */
  send(bodies: string[]): Promise<void>;
  /** About how many messages wait to be delivered. Rejects when the queue cannot be reached. */
  check(): Promise<{ waiting: number }>;
}

const rabbitmq: Adapter<Queue> = {
  form: "amqp://USER:PASSWORD@HOST:5672/VHOST?queue=payment-events&prefetch=400",
  load: () => import("./amqp.ts"),
  parameters: {
    queue: {
      must: "the name of a queue, with 200 bytes at the most",
      test: (text) => text !== "" && Buffer.byteLength(text) <= 200,
    },
    prefetch: {
      must: "a whole number of messages from 1 to 65535",
      test: (text) => isWholeNumber(text) && Number(text) <= 65_535,
    },
  },
};

export const queues = {
  "memory:": { form: "memory:", load: () => import("./memory.ts") },
  "sqs+embedded:": {
    form: "sqs+embedded:FOLDER?port=4566",
    load: () => import("./sqs-embedded.ts"),
    parameters: { port: { must: portRange, test: isPort } },
  },
  "sqs+https:": {
    form: "sqs+https://sqs.REGION.amazonaws.com/ACCOUNT/QUEUE?region=REGION",
    load: () => import("./sqs.ts"),
    parameters: { region: { must: "the name of a region", test: (text) => /^[a-z\d-]+$/.test(text) } },
  },
  "sqs+http:": { form: "sqs+http://HOST:PORT/ACCOUNT/QUEUE", load: () => import("./sqs.ts") },
  "amqp:": rabbitmq,
  "amqps:": { ...rabbitmq, form: rabbitmq.form.replace("amqp:", "amqps:") },
} satisfies Adapters<Queue>;

export const openQueue = (url: string, warn?: Warn) => openAdapter<Queue>(queues, url, warn);

export const embeddedQueue = "payment-events";
const embeddedPort = 4566;

/** Where the embedded server of this URL listens, on the loopback address. */
export const embeddedPortOf = (url: URL) => Number(url.searchParams.get("port") ?? embeddedPort);

/** The queue of an embedded server, as clients of SQS name it. */
export const embeddedQueueUrl = (port: number) => `http://127.0.0.1:${port}/000000000000/${embeddedQueue}`;

/** The URL by which other processes reach the queue of this one; only that of an embedded queue differs. */
export function clientUrl(text: string): string {
  const url = new URL(text);
  return url.protocol === "sqs+embedded:" ? `sqs+${embeddedQueueUrl(embeddedPortOf(url))}` : text;
}
