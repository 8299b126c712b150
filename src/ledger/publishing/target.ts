import {
  type Adapter,
  type Adapters,
  findUrlError,
  openAdapter,
  readParameters,
  type ValuesOf,
  type Warn,
  withoutCredentials,
} from "../../process/adapter.ts";
import type { Setting } from "../../process/settings.ts";
import { type ResourceType, resourceTypes } from "../tables/event.ts";
import { shownTargetName } from "./target-name.ts";

/** An event for a target. */
export interface Delivery {
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
}

/** Why an attempt has failed. */
export interface Failure {
  /**
   * The one whose failure it is. Of the `event`: the target is there, and rejects it; others can succeed. Of the `target`: it
   * limits what it takes, and the event says nothing. `unknown`: both can be, as the attempts for other events show.
   */
  subject: "event" | "target" | "unknown";
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
  send(deliveries: Delivery[], stop: AbortSignal): Promise<(Failure | undefined)[]>;
}

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
export type CommonParameters = ValuesOf<typeof commonParameters>;

const amazonParameters = {
  ...commonParameters,
  region: {
    must: "the name of a region",
    read: (text: string) => (/^[a-z\d-]+$/.test(text) ? text : undefined),
  },
};
export type AmazonParameters = Partial<ValuesOf<typeof amazonParameters>>;

const topicArn = {
  must: "the ARN of a topic",
  read: (text: string) =>
    /^arn:[\w-]+:sns:[\w-]*:\d*:[\w.-]+$/.test(decodeURIComponent(text)) ? text : undefined,
};

const rabbitmqParameters = {
  ...commonParameters,
  exchange: {
    must: "the name of an exchange, up to 200 bytes",
    read: (text: string) => (text !== "" && Buffer.byteLength(text) <= 200 ? text : undefined),
    default: "payment-events",
  },
};
export type RabbitmqParameters = ValuesOf<typeof rabbitmqParameters>;

const rabbitmq: Adapter<Target> = {
  form: "amqp://USER:PASSWORD@HOST:5672/VHOST?exchange=payment-events",
  load: () => import("./targets/rabbitmq.ts"),
  parameters: rabbitmqParameters,
};

/** Standard Webhooks has 24 to 64 bytes. */
const webhookSecret = {
  must: "whsec_ and 24 to 64 bytes as base64",
  read(text: string): string | undefined {
    const [, base64 = ""] = /^whsec_([A-Za-z\d+/]+={0,2})$/.exec(text) ?? [];
    const { length } = Buffer.from(base64, "base64");
    return length >= 24 && length <= 64 ? base64 : undefined;
  },
};

const webhook: Adapter<Target> = {
  form: "https://:SECRET@HOST/PATH",
  load: () => import("./targets/webhook.ts"),
  password: webhookSecret,
  parameters: commonParameters,
  hasForeignParameters: true,
};

export const targets = {
  "sns+https:": {
    form: "sns+https://sns.REGION.amazonaws.com/TOPIC_ARN?region=REGION",
    load: () => import("./targets/sns.ts"),
    path: topicArn,
    parameters: amazonParameters,
  },
  "sns+http:": {
    form: "sns+http://HOST:PORT/TOPIC_ARN",
    load: () => import("./targets/sns.ts"),
    path: topicArn,
    parameters: amazonParameters,
  },
  "amqp:": rabbitmq,
  "amqps:": { ...rabbitmq, form: rabbitmq.form.replace("amqp:", "amqps:") },
  "https:": webhook,
  "http:": { ...webhook, form: webhook.form.replace("https:", "http:") },
  "file:": {
    form: "file:FOLDER",
    load: () => import("./targets/file.ts"),
    parameters: commonParameters,
  },
} satisfies Adapters<Target>;

export const openTarget = (url: string, warn?: Warn) => openAdapter<Target>(targets, url, warn);

/** A target in the settings. */
export interface TargetSetting extends Omit<CommonParameters, "name"> {
  url: string;
  name: string;
}

/** URLs of targets, separated by white space. Default: none. */
export const targetUrls: Setting<TargetSetting[]> = (given = "") => {
  const found: TargetSetting[] = [];
  for (const url of given.split(/\s+/).filter(Boolean)) {
    const error = findUrlError(targets, url);
    if (error !== undefined) return { must: error };
    const setting = targetSettingOf(url);
    const shown = shownTargetName(setting.name);
    if (found.some(({ name }) => shownTargetName(name) === shown))
      return { must: "has two targets of the same name; the parameter name must differ" };
    found.push(setting);
  }
  return { value: found };
};

export function targetSettingOf(url: string): TargetSetting {
  const { name = withoutCredentials(url), ...parameters } = readParameters(new URL(url), commonParameters);
  return { url, name, ...parameters };
}
