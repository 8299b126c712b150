import type { Adapter, Adapters, Warn } from "../../engines/adapter.ts";
import { openAdapter } from "../../engines/open-adapter.ts";
import {
  amazonParameters,
  embeddedParameters,
  kafkaName,
  kafkaParameters,
  rabbitmqParameters,
} from "./parameters.ts";
import type { Queue } from "./queue.ts";

const rabbitmq: Adapter<Queue> = {
  form: "amqp://USER:PASSWORD@HOST:5672/VHOST?queue=payment-events&prefetch=400",
  load: () => import("./amqp/amqp.ts"),
  parameters: rabbitmqParameters,
};

const kafka: Adapter<Queue> = {
  form: "kafka://USER:PASSWORD@HOST:9092,HOST:9092/TOPIC?group=payment-ledger&sasl=SCRAM-SHA-512",
  load: () => import("./kafka/kafka.ts"),
  hasManyHosts: true,
  path: kafkaName("topic"),
  parameters: kafkaParameters,
};

const sqs = { load: () => import("./sqs/sqs.ts"), parameters: amazonParameters };

export const queues = {
  "memory:": { form: "memory:", load: () => import("./memory.ts") },
  "sqs+embedded:": {
    form: "sqs+embedded:FOLDER?port=4566",
    load: () => import("./sqs/embedded/embedded.ts"),
    parameters: embeddedParameters,
  },
  "sqs+https:": { ...sqs, form: "sqs+https://sqs.REGION.amazonaws.com/ACCOUNT/QUEUE?region=REGION" },
  "sqs+http:": { ...sqs, form: "sqs+http://HOST:PORT/ACCOUNT/QUEUE?region=REGION" },
  "amqp:": rabbitmq,
  "amqps:": { ...rabbitmq, form: rabbitmq.form.replace("amqp:", "amqps:") },
  "kafka:": kafka,
  "kafkas:": { ...kafka, form: kafka.form.replace("kafka:", "kafkas:") },
} satisfies Adapters<Queue>;

export const openQueue = (url: string, warn?: Warn) => openAdapter<Queue>(queues, url, warn);
