import type { Adapter, Adapters, Warn } from "../../engines/adapter.ts";
import { openAdapter } from "../../engines/open-adapter.ts";
import { readParameters } from "../../engines/parameters.ts";
import { withoutCredentials } from "../../engines/url.ts";
import { findUrlError } from "../../engines/url-error.ts";
import { type Setting, textMax } from "../../process/settings.ts";
import {
  amazonParameters,
  commonParameters,
  rabbitmqParameters,
  topicArn,
  webhookParameters,
  webhookSecret,
} from "./parameters.ts";
import type { Target } from "./target.ts";
import { shownTargetName } from "./target-name.ts";

const sns: Adapter<Target> = {
  form: "sns+https://sns.REGION.amazonaws.com/TOPIC_ARN?region=REGION",
  load: () => import("./targets/sns.ts"),
  path: topicArn,
  parameters: amazonParameters,
};

const rabbitmq: Adapter<Target> = {
  form: "amqp://USER:PASSWORD@HOST:5672/VHOST?exchange=payment-events",
  load: () => import("./targets/rabbitmq.ts"),
  parameters: rabbitmqParameters,
};

const webhook: Adapter<Target> = {
  form: "https://:SECRET@HOST/PATH",
  load: () => import("./targets/webhook.ts"),
  password: webhookSecret,
  parameters: webhookParameters,
  hasForeignParameters: true,
};

export const targets = {
  "sns+https:": sns,
  "sns+http:": { ...sns, form: "sns+http://HOST:PORT/TOPIC_ARN" },
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

/** The health of the service lists all targets. */
const targetsMax = 100;

/** URLs of targets, separated by white space. Default: none. */
export const targetUrls: Setting<TargetSetting[]> = (given = "") => {
  const found: TargetSetting[] = [];
  for (const url of given.split(/\s+/).filter(Boolean)) {
    const error = findUrlError(targets, url);
    if (error !== undefined) return { must: error };
    const setting = targetSettingOf(url);
    if (setting.name.length > textMax) return { must: `has a URL of more than ${textMax} characters` };
    const shown = shownTargetName(setting.name);
    if (found.some(({ name }) => shownTargetName(name) === shown))
      return { must: "has two targets of the same name; the parameter name must differ" };
    found.push(setting);
  }
  return found.length > targetsMax ? { must: `has more than ${targetsMax} targets` } : { value: found };
};

/** A target in the settings. */
export type TargetSetting = ReturnType<typeof targetSettingOf>;

export function targetSettingOf(url: string) {
  const { name = withoutCredentials(url), ...parameters } = readParameters(new URL(url), commonParameters);
  return { url, name, ...parameters };
}
