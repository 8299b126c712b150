import { type Adapters, findUrlFault, isPort, portRange } from "./adapter.ts";

/** Reads one setting from its text: the value, or what it must be. Whether another is set can be asked by its name. */
export type Setting<Value> = (
  text: string | undefined,
  isSet: (name: string) => boolean,
) => { value: Value } | { must: string };
export type Settings<Specification> = {
  [Name in keyof Specification]: Specification[Name] extends Setting<infer Value> ? Value : never;
};

/** Settings that cannot be used: a line for each, which names it and does not repeat its value. */
export class SettingsFault extends Error {
  readonly faults: string[];

  constructor(faults: string[]) {
    super(faults.join("\n"));
    this.faults = faults;
  }
}

/** All settings of a specification, or all that is wrong with them at once. An empty text counts as not set. */
export function readSettings<Specification extends Record<string, Setting<unknown>>>(
  environment: Record<string, string | undefined>,
  specification: Specification,
): Settings<Specification> {
  const read = Object.entries(specification).map(([name, setting]) => ({
    name,
    outcome: setting(environment[name] || undefined, (other) => Boolean(environment[other])),
  }));
  const faults = read.flatMap(({ name, outcome }) => ("must" in outcome ? [`${name} ${outcome.must}`] : []));
  if (faults.length > 0) throw new SettingsFault(faults);
  return Object.fromEntries(
    read.map(({ name, outcome }) => [name, (outcome as { value: unknown }).value]),
  ) as Settings<Specification>;
}

/** The address a service listens at; others than loopback have to be asked for. */
export const host: Setting<string> = (given = "127.0.0.1") => ({ value: given });

export const port =
  (otherwise: number): Setting<number> =>
  (given = String(otherwise)) =>
    isPort(given) ? { value: Number(given) } : { must: `must be ${portRange}` };

/** A whole number of something from 1. */
export const count =
  (otherwise: number, max: number, unit = ""): Setting<number> =>
  (given = String(otherwise)) =>
    /^[1-9]\d{0,9}$/.test(given) && Number(given) <= max
      ? { value: Number(given) }
      : { must: `must be a whole number ${unit}from 1 to ${max}` };

/** How long something may take, up to what a timer can wait. */
export const milliseconds = (otherwise: number): Setting<number> =>
  count(otherwise, timerMaxMs, "of milliseconds ");

const timerMaxMs = 2 ** 31 - 1;

export const flag =
  (otherwise: boolean): Setting<boolean> =>
  (given = String(otherwise)) =>
    given === "true" || given === "false" ? { value: given === "true" } : { must: "must be true or false" };

export const oneOf =
  <Choice extends string>(choices: readonly Choice[], otherwise: Choice): Setting<Choice> =>
  (given = otherwise) => {
    const value = choices.find((choice) => choice === given);
    return value === undefined ? { must: `must be one of ${choices.join(", ")}` } : { value };
  };

/** A setting that need not be given. */
export const optional =
  <Value>(setting: Setting<Value>): Setting<Value | undefined> =>
  (given, isSet) =>
    given === undefined ? { value: undefined } : setting(given, isSet);

/** A URL whose scheme chooses one of the adapters. */
export const adapterUrl =
  (adapters: Adapters<unknown>, otherwise = ""): Setting<string> =>
  (given = otherwise) => {
    const must = findUrlFault(adapters, given);
    return must === undefined ? { value: given } : { must };
  };

/** A URL to fetch from. The platform fetches none that has credentials. */
export const webUrl = (given: string): ReturnType<Setting<URL>> => {
  const url = URL.parse(given);
  return url && /^https?:$/.test(url.protocol) && !url.username && !url.password
    ? { value: url }
    : { must: "must be a URL of http: or https:, without credentials" };
};

export const anyText = (given: string): ReturnType<Setting<string>> => ({ value: given });

/** One of some settings that are all set, or none of them. */
export const together =
  <Value>(names: string[], read: (given: string) => ReturnType<Setting<Value>>): Setting<Value | undefined> =>
  (given, isSet) => {
    if (given !== undefined) return read(given);
    const others = names.filter(isSet);
    return others.length === 0
      ? { value: undefined }
      : { must: `must be set together with ${others.join(" and ")}` };
  };
