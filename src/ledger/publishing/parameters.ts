import { amazonRegion, boundedName, type ValuesOf, wholeNumber } from "../../engines/parameters.ts";
import { type ResourceType, resourceTypes } from "../tables/event.ts";

/** The forms of a body. */
export const formats = ["event", "cloudevents"] as const;
export type Format = (typeof formats)[number];

/** The parameters of every target. */
export const commonParameters = {
  format: {
    must: `one of ${formats.join(", ")}`,
    read: (text: string) => formats.find((format) => format === text),
    default: "event" as Format,
  },
  /** The name of the target in the database. Default: the URL without credentials and parameters. See `shownTargetName`. */
  name: {
    must: "a name of up to 200 characters",
    read: (text: string) => (text !== "" && text.length <= 200 ? text : undefined),
  },
  /** Where a target begins that the database does not know: with events that are stored from now on, or with all. */
  from: {
    must: "newest or beginning",
    read: (text: string) => (text === "newest" || text === "beginning" ? text : undefined),
    default: "newest" as "newest" | "beginning",
  },
  resource_types: {
    must: `a list of ${resourceTypes.join(", ")}`,
    read(text: string): ResourceType[] | undefined {
      const items = text.split(",");
      return items.every((item) => resourceTypes.some((type) => type === item))
        ? (items as ResourceType[])
        : undefined;
    },
  },
};

/** A name that no receiver is likely to have in its URL. */
export const webhookParameters = {
  ...commonParameters,
  requests_at_a_time: wholeNumber(50, { max: 100 }),
};
export type WebhookParameters = ValuesOf<typeof webhookParameters>;

export const amazonParameters = { ...commonParameters, region: amazonRegion };
export type AmazonParameters = Partial<ValuesOf<typeof amazonParameters>>;

export const topicArn = {
  must: "the ARN of a topic",
  read: (text: string) =>
    /^arn:[\w-]+:sns:[\w-]*:\d*:[\w.-]+$/.test(decodeURIComponent(text)) ? text : undefined,
};

export const rabbitmqParameters = {
  ...commonParameters,
  exchange: { ...boundedName("an exchange", 200), default: "payment-events" },
};
export type RabbitmqParameters = ValuesOf<typeof rabbitmqParameters>;

/** Standard Webhooks has 24 to 64 bytes. */
export const webhookSecret = {
  must: "whsec_ and 24 to 64 bytes as base64",
  read(text: string): string | undefined {
    const [, base64 = ""] = /^whsec_([A-Za-z\d+/]+={0,2})$/.exec(text) ?? [];
    const { length } = Buffer.from(base64, "base64");
    return length >= 24 && length <= 64 ? base64 : undefined;
  },
};
