import {
  type Adapter,
  type Adapters,
  isPort,
  openAdapter,
  portRange,
  readParameters,
  type ValuesOf,
  type Warn,
  wholeNumber,
} from "../../process/adapter.ts";
import { readHosts } from "../../values/host.ts";

/** An in-flight message. It is delivered again, to any receiver, unless it is acknowledged. */
export interface Delivery {
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
   * Waits up to `waitMs` milliseconds for a delivery and resolves with up to `max`, fewer if they are large. Resolves with
   * none if `stop` aborts first.
   */
  receive(max: number, waitMs: number, stop: AbortSignal): Promise<Delivery[]>;
  /** The messages are not delivered again, unless the queue fails meanwhile. */
  acknowledge(deliveries: Delivery[]): Promise<void>;
  /** The messages are delivered again after the delay, in milliseconds. */
  retry(deliveries: Delivery[], delayMs: number): Promise<void>;
  /** Resolves when the queue has accepted all messages. */
  send(bodies: string[]): Promise<void>;
  /** The approximate number of messages to deliver. Rejects if the queue cannot be reached. */
  check(): Promise<{ waiting: number }>;
  /** Why a part of the messages does not reach this receiver until an operator acts; undefined if all can. Default: all can. */
  problem?(): string | undefined;
}

export const rabbitmqParameters = {
  queue: {
    must: "the name of a queue, up to 200 bytes",
    read: (text: string) => (text !== "" && Buffer.byteLength(text) <= 200 ? text : undefined),
    default: "payment-events",
  },
  /** Maximum number of unacknowledged messages. */
  prefetch: wholeNumber(400, { max: 65_535, unit: "of messages " }),
};
export type RabbitmqParameters = ValuesOf<typeof rabbitmqParameters>;

const rabbitmq: Adapter<Queue> = {
  form: "amqp://USER:PASSWORD@HOST:5672/VHOST?queue=payment-events&prefetch=400",
  load: () => import("./amqp/queue.ts"),
  parameters: rabbitmqParameters,
};

/** Both are parts of the names of topics, which have at most 249 characters. */
const kafkaName = (what: string) => ({
  must: `the name of a ${what}, up to 100 letters, digits, ".", "_" and "-"`,
  read: (text: string) => (/^[\w.-]{1,100}$/.test(text) && !/^\.\.?$/.test(text) ? text : undefined),
});
const mechanisms = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] as const;
const kafkaParameters = {
  group: { ...kafkaName("group"), default: "payment-ledger" },
  /** The mechanism for the user and the password, if the URL has them. */
  sasl: {
    must: `one of ${mechanisms.join(", ")}`,
    read: (text: string) => mechanisms.find((mechanism) => mechanism === text),
    default: "SCRAM-SHA-512" as const,
  },
};
export type KafkaParameters = ValuesOf<typeof kafkaParameters>;

const kafka: Adapter<Queue> = {
  form: "kafka://USER:PASSWORD@HOST:9092,HOST:9092/TOPIC?group=payment-ledger&sasl=SCRAM-SHA-512",
  load: () => import("./kafka/queue.ts"),
  hasManyHosts: true,
  path: kafkaName("topic"),
  parameters: kafkaParameters,
};

const embeddedParameters = {
  port: { must: portRange, read: (text: string) => (isPort(text) ? Number(text) : undefined), default: 4566 },
  /** Hosts by which producers reach the server, besides those of the machine itself. */
  allowed_hosts: { must: "a list of hosts without ports", read: readHosts, default: [] as string[] },
};
export type EmbeddedParameters = ValuesOf<typeof embeddedParameters>;

const amazonParameters = {
  region: {
    must: "the name of a region",
    read: (text: string) => (/^[a-z\d-]+$/.test(text) ? text : undefined),
  },
};
export type AmazonParameters = Partial<ValuesOf<typeof amazonParameters>>;

export const queues = {
  "memory:": { form: "memory:", load: () => import("./memory.ts") },
  "sqs+embedded:": {
    form: "sqs+embedded:FOLDER?port=4566",
    load: () => import("./embedded/queue.ts"),
    parameters: embeddedParameters,
  },
  "sqs+https:": {
    form: "sqs+https://sqs.REGION.amazonaws.com/ACCOUNT/QUEUE?region=REGION",
    load: () => import("./sqs.ts"),
    parameters: amazonParameters,
  },
  "sqs+http:": {
    form: "sqs+http://HOST:PORT/ACCOUNT/QUEUE?region=REGION",
    load: () => import("./sqs.ts"),
    parameters: amazonParameters,
  },
  "amqp:": rabbitmq,
  "amqps:": { ...rabbitmq, form: rabbitmq.form.replace("amqp:", "amqps:") },
  "kafka:": kafka,
  "kafkas:": { ...kafka, form: kafka.form.replace("kafka:", "kafkas:") },
} satisfies Adapters<Queue>;

export const openQueue = (url: string, warn?: Warn) => openAdapter<Queue>(queues, url, warn);

export const embeddedQueue = "payment-events";

/** The port of the embedded server, on loopback. */
const embeddedPortOf = (url: URL) => readParameters(url, embeddedParameters).port;

/** The folder of an embedded queue. */
export const embeddedFolder = (url: URL) => decodeURIComponent(url.pathname);

/** The queue URL of an embedded server for SQS clients. */
export const embeddedQueueUrl = (port: number) => `http://127.0.0.1:${port}/000000000000/${embeddedQueue}`;

/** Most stand-ins accept any region; some keep the queues of each region apart. */
export const standInRegion = "us-east-1";

export const standInAddress = (url: string, region = standInRegion) => ({
  kind: "stand-in" as const,
  url,
  endpoint: new URL(url).origin,
  region,
});

/** The address of the queue with the default settings. */
export const defaultAddress = standInAddress(embeddedQueueUrl(embeddedParameters.port.default));

/** The URL by which other processes reach the queue. It differs only for an embedded queue. */
export const clientUrl = (text: string): string =>
  text.startsWith("sqs+embedded:") ? `sqs+${embeddedQueueUrl(embeddedPortOf(new URL(text)))}` : text;
