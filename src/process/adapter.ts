/** Hears what an operator should know of what was opened. */
export type Warn = (text: string) => void;

/** One way to open a port, chosen by the scheme of a URL. Its module is loaded only when it is chosen. */
export interface Adapter<Port> {
  /** How its URLs look, for people. */
  form: string;
  load(): Promise<{ open(url: URL, others: URL[], warn: Warn): Promise<Port> }>;
  /** Whether a URL can name several hosts, with commas between; `open` gets a URL for each. */
  hasManyHosts?: true;
  /** The query parameters it knows, each with what a value must be and a test of it. */
  parameters?: Record<string, { must: string; test: (text: string) => boolean }>;
}

/** Adapters by scheme, the colon included. */
export type Adapters<Port> = Record<string, Adapter<Port>>;

/** What is wrong with the text as a URL of one of these adapters, without repeating a value; undefined when nothing is. */
export function findUrlFault<Port>(adapters: Adapters<Port>, text: string): string | undefined {
  const [url, ...others] = parseUrls(text);
  const adapter = url ? adapterFor(adapters, url) : undefined;
  const forms = new Set(Object.values(adapters).map(({ form }) => form));
  if (!url || !adapter || others.includes(null)) return `must be one of ${[...forms].join(", ")}`;
  if (others.length > 0 && !adapter.hasManyHosts)
    return `names more than one host, it must be ${adapter.form}`;
  if (url.pathname === "" && url.host === "" && adapter.form.includes("FOLDER")) {
    return `names no folder, it must be ${adapter.form}`;
  }
  if (!isDecodable(url)) return "has malformed percent-encoding";
  const known = adapter.parameters ?? {};
  for (const [name, value] of url.searchParams) {
    const parameter = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!parameter) {
      const all = Object.keys(known).join(", ") || "none";
      return `has a parameter${nameToTell(url, name)} that ${url.protocol} does not know; known: ${all}`;
    }
    if (!parameter.test(value)) return `has a parameter ${name} that is not ${parameter.must}`;
  }
  return undefined;
}

/** The name of a parameter, unless it may be a part of a password, in which a `?` began what looks like a query. */
const nameToTell = ({ search }: URL, name: string) =>
  /^[\w-]{1,40}$/.test(name) && !search.includes("@") ? ` ${name}` : "";

/** A URL, which can name one host; for several, one URL each. */
function parseUrls(text: string): (URL | null)[] {
  const [, before, hosts = "", behind] = /^([^/?#]*:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(text) ?? [];
  if (!hosts.includes(",")) return [URL.parse(text)];
  return hosts.split(",").map((host) => (host === "" ? null : URL.parse(before + host + behind)));
}

function isDecodable({ username, password, pathname }: URL): boolean {
  try {
    decodeURIComponent(username + password + pathname);
    return true;
  } catch {
    return false;
  }
}

/** Opens what the URL names, which can warn at any time. */
export async function openAdapter<Port>(
  adapters: Adapters<Port>,
  text: string,
  warn: Warn = () => {},
): Promise<Port> {
  const fault = findUrlFault(adapters, text);
  const [url, ...others] = parseUrls(text) as [URL, ...URL[]];
  const adapter = fault === undefined && adapterFor(adapters, url);
  if (!adapter) throw new Error(`the URL ${fault}`);
  return (await adapter.load()).open(url, others, warn);
}

const adapterFor = <Port>(adapters: Adapters<Port>, { protocol }: URL) =>
  Object.hasOwn(adapters, protocol) ? adapters[protocol] : undefined;

/** The host of a URL as sockets take it: an address of IPv6 stands in brackets there. */
export const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, "");

/** From 1, and small enough to count anything with. */
export const isWholeNumber = (text: string) => /^[1-9]\d{0,5}$/.test(text);
export const isPort = (text: string) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
export const portRange = "a whole number from 0 to 65535";
