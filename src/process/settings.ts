import { isIP } from "node:net";
import type { Adapters } from "../engines/adapter.ts";
import { isPort, portRange } from "../engines/parameters.ts";
import { findUrlError } from "../engines/url-error.ts";
import { readHosts } from "../values/host.ts";

/** Parses a setting: its value, or what it must be. `isSet` returns whether another setting is set. */
export type Setting<Value> = (
  text: string | undefined,
  isSet: (name: string) => boolean,
) => { value: Value } | { must: string };
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
  const read = Object.entries(specification).map(([name, setting]) => ({
    name,
    outcome: setting(textOf(name), (other) => textOf(other) !== undefined),
  }));
  const errors = read.flatMap(({ name, outcome }) => ("must" in outcome ? [`${name} ${outcome.must}`] : []));
  if (errors.length > 0) throw new SettingsError(errors);
  return Object.fromEntries(
    read.map(({ name, outcome }) => [name, (outcome as { value: unknown }).value]),
  ) as Settings<Specification>;
}

/** The variables that begin like one of these settings and are none of them, each with the nearest one. */
export function misspeltSettings(
  environment: Environment,
  known: string[],
): { given: string; nearest: string }[] {
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

/** The address to listen at. Default: loopback only. */
export const host: Setting<string> = (given = "127.0.0.1") => ({ value: given });

export const port =
  (defaultValue: number): Setting<number> =>
  (given = String(defaultValue)) =>
    isPort(given) ? { value: Number(given) } : { must: `must be ${portRange}` };

/** A whole number from 1 to `max`. */
export const count =
  (defaultValue: number, max: number, unit = ""): Setting<number> =>
  (given = String(defaultValue)) =>
    /^[1-9]\d{0,9}$/.test(given) && Number(given) <= max
      ? { value: Number(given) }
      : { must: `must be a whole number ${unit}from 1 to ${max}` };

/** A duration in milliseconds, up to the maximum of a timer (24.8 days). */
export const milliseconds = (defaultValue: number): Setting<number> =>
  count(defaultValue, timerMaxMs, "of milliseconds ");

const timerMaxMs = 2 ** 31 - 1;

export const flag =
  (defaultValue: boolean): Setting<boolean> =>
  (given = String(defaultValue)) =>
    given === "true" || given === "false" ? { value: given === "true" } : { must: "must be true or false" };

export const oneOf =
  <Choice extends string>(choices: readonly Choice[], defaultValue: Choice): Setting<Choice> =>
  (given = defaultValue) => {
    const value = choices.find((choice) => choice === given);
    return value === undefined ? { must: `must be one of ${choices.join(", ")}` } : { value };
  };

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

/** A URL to fetch. `fetch` rejects URLs with credentials. Any `@` can be the end of some, if the URL is not parsed as it looks. */
export const webUrl = (given: string): ReturnType<Setting<URL>> => {
  const url = URL.parse(given);
  return url && /^https?:\/\/(?![/\\])[^@\p{Cc}]+$/iu.test(given)
    ? { value: url }
    : { must: "must be a URL of http: or https:, without credentials" };
};

/** A URL of which paths are appended to the path. */
export const baseUrl = (given = ""): ReturnType<Setting<URL>> => {
  const outcome = webUrl(given);
  const isBase = "value" in outcome && !outcome.value.search && !outcome.value.hash;
  return isBase ? outcome : { must: "must be a URL of http: or https:, without credentials and query" };
};

/** Addresses, networks (`10.0.0.0/8`) or their names, separated by commas. */
export const networks: Setting<string[]> = (given = "") => {
  const items = given.split(",").flatMap((item) => item.trim() || []);
  return items.every(isNetwork)
    ? { value: items }
    : { must: `must be a list of addresses, networks such as 10.0.0.0/8, ${networkNames.join(", ")}` };
};

/** Host names and addresses without ports, separated by commas, in their normal form, or `*` for all. */
export const hosts: Setting<string[]> = (given = "") => {
  const value = given === "*" ? [given] : readHosts(given);
  return value
    ? { value }
    : { must: "must be a list of hosts without ports, such as ledger.example.com, or *" };
};

/** Origins of web pages, separated by commas, or `*` for all. */
export const origins: Setting<string[]> = (given = "") => {
  const items = given.split(",").flatMap((item) => item.trim() || []);
  if (items.length === 1 && items[0] === "*") return { value: items };
  const found = items.map(originIn);
  return found.every((origin) => origin !== undefined)
    ? { value: found }
    : { must: "must be a list of origins such as https://shop.example.com, or *" };
};

/** The origin of a URL that has nothing else, in the form in which browsers send it. */
function originIn(item: string): string | undefined {
  const outcome = webUrl(item);
  if (!("value" in outcome) || item.includes("*")) return undefined;
  const { origin, pathname, search, hash } = outcome.value;
  return pathname === "/" && !search && !hash ? origin : undefined;
}

const networkNames = ["loopback", "linklocal", "uniquelocal"];

function isNetwork(item: string): boolean {
  const [address = "", prefix, ...more] = item.split("/");
  const bits = isIP(address) === 4 ? 32 : 128;
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
  return networkNames.includes(item) || (isIP(address) !== 0 && isPrefix && more.length === 0);
}

/** A URI or a part of one (RFC 3986), in the form in which it is sent. */
export const uriReference = (given = ""): ReturnType<Setting<string>> =>
  /^[\w\-.~:/?#[\]@!$&'()*+,;=%]{1,255}$/.test(given) && URL.canParse(given, "http://localhost")
    ? { value: given }
    : { must: "must be a URI or a path such as /payment-ledger, up to 255 characters" };

export const anyText = (given: string): ReturnType<Setting<string>> => ({ value: given });

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
  <Value>(names: string[], read: (given: string) => ReturnType<Setting<Value>>): Setting<Value | undefined> =>
  (given, isSet) => {
    if (given !== undefined) return read(given);
    const others = names.filter(isSet);
    return others.length === 0
      ? { value: undefined }
      : { must: `must be set together with ${others.join(" and ")}` };
  };
