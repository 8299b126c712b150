/** A query parameter of a URL. */
export interface UrlParameter<Value> {
  /** The requirement for a value, for error messages. */
  must: string;
  /** Returns undefined if the text is not a valid value. */
  read(text: string): Value | undefined;
  /** Default: none, and the value is undefined. */
  default?: Value;
}

export type UrlParameters = Record<string, UrlParameter<unknown>>;

/** The values of parameters, with defaults. */
export type ValuesOf<Parameters extends UrlParameters> = {
  [Name in keyof Parameters]: Parameters[Name] extends { default: infer Value }
    ? Value
    : Parameters[Name] extends UrlParameter<infer Value>
      ? Value | undefined
      : never;
};

/** The values of the parameters of a valid URL. */
export function readParameters<Parameters extends UrlParameters>(
  { searchParams }: URL,
  parameters: Parameters,
): ValuesOf<Parameters> {
  const values = Object.entries(parameters).map(([name, parameter]) => {
    const text = searchParams.get(name);
    return [name, text === null ? parameter.default : parameter.read(text)];
  });
  return Object.fromEntries(values) as ValuesOf<Parameters>;
}

/** A whole number from `min` to `max`. */
export const wholeNumber = (defaultValue: number, { min = 1, max = 999_999, unit = "" } = {}) => ({
  must: `a whole number ${unit}from ${min} to ${max}`,
  read(text: string): number | undefined {
    const value = Number(text);
    return /^(0|[1-9]\d{0,9})$/.test(text) && value >= min && value <= max ? value : undefined;
  },
  default: defaultValue,
});

export const isPort = (text: string) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
export const portRange = "a whole number from 0 to 65535";

/** A name of up to so many bytes. */
export const boundedName = (what: string, bytesMax: number) => ({
  must: `the name of ${what}, up to ${bytesMax} bytes`,
  read: (text: string) => (text !== "" && Buffer.byteLength(text) <= bytesMax ? text : undefined),
});

/** The region of a service of Amazon. */
export const amazonRegion = {
  must: "the name of a region",
  read: (text: string) => (/^[a-z\d-]+$/.test(text) ? text : undefined),
};
