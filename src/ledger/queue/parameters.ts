import {
  amazonRegion,
  boundedName,
  isPort,
  portRange,
  type ValuesOf,
  wholeNumber,
} from "../../engines/parameters.ts";
import { readHosts } from "../../values/host.ts";

export const rabbitmqParameters = {
  queue: { ...boundedName("a queue", 200), default: "payment-events" },
  /** Maximum number of unacknowledged messages. */
  prefetch: wholeNumber(400, { max: 65_535, unit: "of messages " }),
};
export type RabbitmqParameters = ValuesOf<typeof rabbitmqParameters>;

/** Both are parts of the names of topics, which have at most 249 characters. */
export const kafkaName = (what: string) => ({
  must: `the name of a ${what}, up to 100 letters, digits, ".", "_" and "-"`,
  read: (text: string) => (/^[\w.-]{1,100}$/.test(text) && !/^\.\.?$/.test(text) ? text : undefined),
});
const mechanisms = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] as const;
export const kafkaParameters = {
  group: { ...kafkaName("group"), default: "payment-ledger" },
  /** The mechanism for the user and the password, if the URL has them. */
  sasl: {
    must: `one of ${mechanisms.join(", ")}`,
    read: (text: string) => mechanisms.find((mechanism) => mechanism === text),
    default: "SCRAM-SHA-512" as const,
  },
};
export type KafkaParameters = ValuesOf<typeof kafkaParameters>;

export const embeddedParameters = {
  port: { must: portRange, read: (text: string) => (isPort(text) ? Number(text) : undefined), default: 4566 },
  /** Hosts by which producers reach the server, besides those of the machine itself. */
  allowed_hosts: { must: "a list of hosts without ports", read: readHosts, default: [] as string[] },
};
export type EmbeddedParameters = ValuesOf<typeof embeddedParameters>;

export const amazonParameters = { region: amazonRegion };
export type AmazonParameters = Partial<ValuesOf<typeof amazonParameters>>;
