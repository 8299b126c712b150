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
  // The URL standard ignores some of them, so that the text would not be what it looks like.
  if (/\p{Cc}/u.test(text)) return "has a control character, such as a tab or a line feed";
  const [url, ...others] = parseUrls(text);
  const adapter = url ? adapterFor(adapters, url) : undefined;
  const forms = new Set(Object.values(adapters).map(({ form }) => form));
  if (!url || !adapter || others.includes(null)) return `must be one of ${[...forms].join(", ")}`;
  if (others.length > 0 && !adapter.hasManyHosts) return `has more than one host; it must be ${adapter.form}`;
  if (!isDecodable(url)) return "has malformed percent-encoding";
  if (text.includes("#")) return "has a #; in a name, a password or a value it must be %23";
  const findPlaceError = adapter.form.includes("//") ? findHostError : findFolderError;
  return findPlaceError(adapter, text, url, others) ?? findPartError(adapter, url);
}

/**
 * The error in what is between the scheme and the parameters of a URL with a host. A text that is not parsed as it looks can
 * have its password where it would be shown.
 */
function findHostError<Port>(
  { form, hostParameter = "" }: Adapter<Port>,
  text: string,
  url: URL,
  others: (URL | null)[],
): string | undefined {
  if (!/^[^/\\:]*:\/\//.test(text)) return `has no // after its scheme; it must be ${form}`;
  const isEmpty = hasNoHost(text) || /^[^/\\:]*:\/\/[/\\]/.test(text) || url.host === "";
  if (isEmpty && !url.searchParams.has(hostParameter)) return `has no host; it must be ${form}`;
  if ([url, ...others].some((each) => each?.host.includes("%"))) {
    return `has a host with percent-encoding; it must be ${form}`;
  }
  if (!(url.pathname + url.search).includes("@")) return undefined;
  return "has an @ after its host; in a name, a password or a value @ must be %40, / %2F and ? %3F";
}

/** The error in what is between the scheme and the parameters of a URL with a folder, or of one with nothing there. */
function findFolderError<Port>({ form }: Adapter<Port>, text: string, url: URL): string | undefined {
  if (url.host !== "") return `has a host; it must be ${form}`;
  const [, folder = ""] = /^[^:]*:(?:\/\/)?([^?]*)/.exec(text) ?? [];
  if (!form.includes("FOLDER")) return folder === "" ? undefined : `has a path; it must be ${form}`;
  if (folder === "") return `has no folder; it must be ${form}`;
  if (!credentials.test(decodeURIComponent(folder))) return undefined;
  return `has a folder with credentials; it must be ${form}`;
}

/** What can be credentials in a text without `//`, up to the last `@`: a user before any slash, or anything with a colon. */
const credentials = /^([/\\]*[^/\\]*@|.*:.*@)/s;

/** The error in the path, the password or the parameters of a URL. */
function findPartError<Port>(adapter: Adapter<Port>, url: URL): string | undefined {
  if (adapter.path && adapter.path.read(url.pathname.slice(1)) === undefined) {
    return `has a path that is not ${adapter.path.must}; it must be ${adapter.form}`;
  }
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

/**
 * A URL to show, without its user name, password and parameters. Of any text that can have credentials nothing before the
 * last `@` is left but the scheme. A folder can have an `@`, such as `/home/user@example`.
 */
export function withoutCredentials(text: string): string {
  const [, scheme = "", slashes = "", rest = ""] = /^([a-z][a-z\d+.-]*:)?([/\\]*)(.*)$/is.exec(text) ?? [];
  const hasCredentials = slashes.length === 2 || credentials.test(rest);
  const shown = hasCredentials ? rest.slice(rest.lastIndexOf("@") + 1) : rest;
  return scheme + slashes + shown.replace(/[?#].*$/s, "");
}

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
