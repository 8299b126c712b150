import { isIP } from "node:net";
import type { Adapters } from "../engines/adapter.ts";
import { isPort, portRange, wholeNumber } from "../engines/parameters.ts";
import { findUrlError } from "../engines/url-error.ts";
import { readHosts } from "../values/host.ts";

/** The value of a setting, or what it must be. */
type Outcome<Value> = { value: Value } | { must: string };

/** Parses a setting. `isSet` returns true if another setting is set. */
export type Setting<Value> = (text: string | undefined, isSet: (name: string) => boolean) => Outcome<Value>;
export type Settings<Specification> = {
  [Name in keyof Specification]: Specification[Name] extends Setting<infer Value> ? Value : never;
};

/** Settings are wrong. There is a message for each, with its name and without its value. */
export class SettingsError extends Error {
  readonly messages: string[];

  constructor(messages: string[]) {
    super(messages.join("\n"));
    this.messages = messages;
  }
}

type Environment = Record<string, string | undefined>;

/**
 * Reads all settings of a specification from the environment. White space around a value is dropped: a secret that was
 * made with `echo` ends with a line feed. Empty counts as not set. Throws `SettingsError`.
 */
export function readSettings<Specification extends Record<string, Setting<unknown>>>(
  environment: Environment,
  specification: Specification,
): Settings<Specification> {
  const textOf = (name: string) => environment[name]?.trim() || undefined;
  const values: Record<string, unknown> = {};
  const errors: string[] = [];
  for (const [name, setting] of Object.entries(specification)) {
    const outcome = setting(textOf(name), (other) => textOf(other) !== undefined);
    if ("must" in outcome) errors.push(`${name} ${outcome.must}`);
    else values[name] = outcome.value;
  }
  if (errors.length > 0) throw new SettingsError(errors);
  return values as Settings<Specification>;
}

/** The variables that begin like one of these settings and are none of them, each with the nearest one. */
export function misspeltSettings(environment: Environment, known: string[]) {
  const others = Object.keys(environment).filter((name) => !known.includes(name) && !isOfCluster(name));
  return others.flatMap((given) => {
    const alike = known.filter((name) => name.includes("_") && given.startsWith(`${name.split("_")[0]}_`));
    const [nearest] = alike.toSorted((one, other) => sharedLength(other, given) - sharedLength(one, given));
    return nearest === undefined ? [] : [{ given, nearest }];
  });
}

/** The number of characters with which both texts begin. */
function sharedLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

/** Kubernetes and Docker set such variables for each service. */
const isOfCluster = (name: string) =>
  /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP)(_\w+)?)$/.test(name);

/** A setting whose texts are read by a function, which returns undefined for an invalid one. */
export const reading =
  <Value>(must: string, read: (text: string) => Value | undefined, defaultText = "") =>
  (given = defaultText): Outcome<Value> => {
    const value = read(given);
    return value === undefined ? { must: `must be ${must}` } : { value };
  };

/** The address to listen at. Default: loopback only. */
export const host: Setting<string> = (given = "127.0.0.1") => ({ value: given });

export const port = (defaultValue: number): Setting<number> =>
  reading(portRange, (text) => (isPort(text) ? Number(text) : undefined), String(defaultValue));

/** A whole number from 1 to `max`. */
export function count(defaultValue: number, max: number, unit = ""): Setting<number> {
  const { must, read } = wholeNumber(defaultValue, { max, unit });
  return reading(must, read, String(defaultValue));
}

/** A duration in milliseconds, up to the maximum of a timer (24.8 days). */
export const milliseconds = (defaultValue: number): Setting<number> =>
  count(defaultValue, timerMaxMs, "of milliseconds ");

const timerMaxMs = 2 ** 31 - 1;

export const flag = (defaultValue: boolean): Setting<boolean> =>
  reading(
    "true or false",
    (text) => (text === "true" || text === "false" ? text === "true" : undefined),
    String(defaultValue),
  );

export const oneOf = <Choice extends string>(choices: readonly Choice[], defaultValue: Choice) =>
  reading(`one of ${choices.join(", ")}`, (text) => choices.find((choice) => choice === text), defaultValue);

/** A setting without a default. */
export const optional =
  <Value>(setting: Setting<Value>): Setting<Value | undefined> =>
  (given, isSet) =>
    given === undefined ? { value: undefined } : setting(given, isSet);

/** A URL that selects one of the adapters. */
export const adapterUrl =
  (adapters: Adapters<unknown>, defaultValue = ""): Setting<string> =>
  (given = defaultValue) => {
    const error = findUrlError(adapters, given);
    return error === undefined ? { value: given } : { must: error };
  };

const webUrlForm = "a URL of http: or https:, without credentials";

/** A URL to fetch. `fetch` rejects URLs with credentials. Any `@` can be the end of some, if the URL is not parsed as it looks. */
const parseWebUrl = (text: string): URL | undefined =>
  (/^https?:\/\/(?![/\\])[^@\p{Cc}]+$/iu.test(text) && URL.parse(text)) || undefined;

export const webUrl = reading(webUrlForm, parseWebUrl);

/** Texts that responses contain are not longer, so that the contracts can bound the responses. */
export const textMax = 2000;

/** A URL of which paths are appended to the path. */
export const baseUrl = reading(`${webUrlForm} and query, with up to ${textMax} characters`, (text) => {
  const url = parseWebUrl(text);
  return !url || url.search || url.hash || url.href.length > textMax ? undefined : url;
});

const listOf = (text: string) => text.split(",").flatMap((item) => item.trim() || []);

const networkNames = ["loopback", "linklocal", "uniquelocal"];

/** Addresses, networks (`10.0.0.0/8`) or their names, separated by commas. */
export const networks = reading(
  `a list of addresses, networks such as 10.0.0.0/8, ${networkNames.join(", ")}`,
  (text) => (listOf(text).every(isNetwork) ? listOf(text) : undefined),
);

function isNetwork(item: string): boolean {
  const [address = "", prefix, ...more] = item.split("/");
  const bits = isIP(address) === 4 ? 32 : 128;
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
  return networkNames.includes(item) || (isIP(address) !== 0 && isPrefix && more.length === 0);
}

/** Host names and addresses without ports, separated by commas, in their normal form, or `*` for all. */
export const hosts = reading("a list of hosts without ports, such as ledger.example.com, or *", (text) =>
  text === "*" ? [text] : readHosts(text),
);

/** Origins of web pages, separated by commas, or `*` for all. */
export const origins = reading("a list of origins such as https://shop.example.com, or *", (text) => {
  const items = listOf(text);
  if (items.length === 1 && items[0] === "*") return items;
  const found = items.map(originIn);
  return found.every((origin) => origin !== undefined) ? found : undefined;
});

/** The origin of a URL that has nothing else, in the form in which browsers send it. */
function originIn(item: string): string | undefined {
  const url = parseWebUrl(item);
  if (!url || item.includes("*")) return undefined;
  return url.pathname === "/" && !url.search && !url.hash ? url.origin : undefined;
}

/** A URI or a part of one (RFC 3986), in the form in which it is sent. */
export const uriReference = reading(
  "a URI or a path such as /payment-ledger, up to 255 characters",
  (text) =>
    /^[\w\-.~:/?#[\]@!$&'()*+,;=%]{1,255}$/.test(text) && URL.canParse(text, "http://localhost")
      ? text
      : undefined,
);

export const anyText = (given: string): Outcome<string> =>
  given.length > textMax ? { must: `must have at most ${textMax} characters` } : { value: given };

export const filePath = (defaultValue = ""): Setting<string> =>
  reading(
    `a path of at most ${textMax} characters`,
    (text) => (text === "" || text.length > textMax ? undefined : text),
    defaultValue,
  );

/** A setting that has an effect only if these others are set. */
export const requires =
  <Value>(names: string[], setting: Setting<Value>): Setting<Value> =>
  (given, isSet) => {
    const missing = names.filter((name) => !isSet(name));
    return given === undefined || missing.length === 0
      ? setting(given, isSet)
      : { must: `must be set together with ${missing.join(" and ")}` };
  };

/** One of several settings of which all are set or none. */
export const allOrNone =
  <Value>(names: string[], read: (given: string) => Outcome<Value>): Setting<Value | undefined> =>
  (given, isSet) => {
    if (given !== undefined) return read(given);
    const others = names.filter(isSet);
    return others.length === 0
      ? { value: undefined }
      : { must: `must be set together with ${others.join(" and ")}` };
  };
