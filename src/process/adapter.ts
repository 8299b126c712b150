import { pathToFileURL } from "node:url";

/** Receives warnings for an operator. */
export type Warn = (text: string) => void;

/** A query parameter of a URL. */
export interface UrlParameter<Value> {
  /** The requirement for a value, for error messages. */
  must: string;
  /** Returns undefined if the text is not a valid value. */
  read(text: string): Value | undefined;
  /** Default: none, and the value is undefined. */
  default?: Value;
}

type UrlParameters = Record<string, UrlParameter<unknown>>;

/** The values of parameters, with defaults. */
export type ValuesOf<Parameters extends UrlParameters> = {
  [Name in keyof Parameters]: Parameters[Name] extends { default: infer Value }
    ? Value
    : Parameters[Name] extends UrlParameter<infer Value>
      ? Value | undefined
      : never;
};

/** A parsed URL of an adapter. */
export interface Address<Values = object> {
  /** The URL with its first host. */
  url: URL;
  /** The URL with each further host. */
  others: URL[];
  parameters: Values;
  warn: Warn;
}

/** An implementation of a port, selected by the scheme of a URL. Its module is loaded only if it is selected. */
export interface Adapter<Port> {
  /** The form of its URLs, for error messages. */
  form: string;
  // biome-ignore lint/suspicious/noExplicitAny: The values are those of `parameters`.
  load(): Promise<{ open(address: Address<any>): Promise<Port> }>;
  /** True if a URL can have several hosts, separated by commas. */
  hasManyHosts?: true;
  /** The parameter that can replace the host of a URL. Default: none. */
  hostParameter?: string;
  /** The requirement for the path after its first slash. Default: any path. */
  path?: UrlParameter<string>;
  /** The requirement for the password, if there is one. Default: any password. */
  password?: UrlParameter<string>;
  parameters?: UrlParameters;
  /** True if a URL can have further parameters, which belong to the one at its other end. */
  hasForeignParameters?: true;
}

/** Adapters by scheme, with the colon. */
export type Adapters<Port> = Record<string, Adapter<Port>>;

/** The error in a URL of one of these adapters, without any of its values, or undefined. */
export function findUrlError<Port>(adapters: Adapters<Port>, text: string): string | undefined {
  const [url, ...others] = parseUrls(text);
  const adapter = url ? adapterFor(adapters, url) : undefined;
  const forms = new Set(Object.values(adapters).map(({ form }) => form));
  if (!url || !adapter || others.includes(null)) return `must be one of ${[...forms].join(", ")}`;
  if (others.length > 0 && !adapter.hasManyHosts) return `has more than one host; it must be ${adapter.form}`;
  if (hasNoHost(text) && !url.searchParams.has(adapter.hostParameter ?? "")) {
    return `has no host; it must be ${adapter.form}`;
  }
  if (adapter.form.includes("FOLDER")) {
    if (url.host !== "") return `has a host; it must be ${adapter.form}`;
    if (/^[^:]*:(\/\/)?([?#]|$)/.test(text)) return `has no folder; it must be ${adapter.form}`;
  }
  if (adapter.path && adapter.path.read(url.pathname.slice(1)) === undefined) {
    return `has a path that is not ${adapter.path.must}; it must be ${adapter.form}`;
  }
  if (!isDecodable(url)) return "has malformed percent-encoding";
  const password = decodeURIComponent(url.password);
  if (adapter.password && password !== "" && adapter.password.read(password) === undefined) {
    return `has a password that is not ${adapter.password.must}; it must be ${adapter.form}`;
  }
  const known = adapter.parameters ?? {};
  for (const [name, value] of url.searchParams) {
    const parameter = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!parameter && adapter.hasForeignParameters) continue;
    if (!parameter) {
      const all = Object.keys(known).join(", ") || "none";
      return `has a parameter${nameToShow(url, name)} that ${url.protocol} does not have; known: ${all}`;
    }
    if (parameter.read(value) === undefined) return `has a parameter ${name} that is not ${parameter.must}`;
  }
  return undefined;
}

/** The name of a parameter, unless it may be part of a password that contains a `?`. */
const nameToShow = ({ search }: URL, name: string) =>
  /^[\w-]{1,40}$/.test(name) && !search.includes("@") ? ` ${name}` : "";

/** True if nothing follows the credentials: another host may be in a parameter. The URL standard does not allow this form. */
const hasNoHost = (text: string) => /^[^/?#]*:\/\/[^/?#]*@(?:[/?#]|$)/.test(text);

/** One URL for each host. */
function parseUrls(text: string): (URL | null)[] {
  const [, start, hosts = "", end] = /^([^/?#]*:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(text) ?? [];
  if (hasNoHost(text)) return [URL.parse(`${start}localhost${end}`)];
  if (!hosts.includes(",")) return [parseUrl(text)];
  return hosts.split(",").map((host) => (host === "" ? null : URL.parse(start + host + end)));
}

/** A folder can be relative to the working directory. The URL standard has that for schemes that it does not know only. */
const parseUrl = (text: string) =>
  URL.parse(text, /^file:/i.test(text) ? `${pathToFileURL(process.cwd())}/` : undefined);

function isDecodable({ username, password, pathname }: URL): boolean {
  try {
    decodeURIComponent(username + password + pathname);
    return true;
  } catch {
    return false;
  }
}

/** Opens the adapter that the URL selects. It can call `warn` at any time. Throws if the URL is invalid. */
export async function openAdapter<Port>(
  adapters: Adapters<Port>,
  text: string,
  warn: Warn = () => {},
): Promise<Port> {
  const error = findUrlError(adapters, text);
  const [url, ...others] = parseUrls(text) as [URL, ...URL[]];
  const adapter = error === undefined && adapterFor(adapters, url);
  if (!adapter) throw new Error(`the URL ${error}`);
  const { open } = await adapter.load();
  return open({ url, others, parameters: readParameters(url, adapter.parameters ?? {}), warn });
}

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

const adapterFor = <Port>(adapters: Adapters<Port>, { protocol }: URL) =>
  Object.hasOwn(adapters, protocol) ? adapters[protocol] : undefined;

/** A URL without its user name and password, to show it. */
export const withoutCredentials = (text: string): string => text.replace(/^([^/?#]*:\/\/)[^/?#]*@/, "$1");

/** The host of a URL for a socket: an IPv6 address without its brackets. */
export const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, "");

/** The host of a URL and its port, for messages and for clients that parse them. */
export const hostAndPort = ({ hostname, port }: URL, defaultPort: number) =>
  `${hostname}:${port || defaultPort}`;

/** A whole number from `min` to `max`. */
export const wholeNumber = (defaultValue: number, { min = 1, max = 999_999, unit = "" } = {}) => ({
  must: `a whole number ${unit}from ${min} to ${max}`,
  read(text: string): number | undefined {
    const value = Number(text);
    return /^(0|[1-9]\d{0,8})$/.test(text) && value >= min && value <= max ? value : undefined;
  },
  default: defaultValue,
});

export const isPort = (text: string) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
export const portRange = "a whole number from 0 to 65535";
