import type { Adapter, Adapters } from "./adapter.ts";
import { credentials, hasNoHost, parseUrls } from "./url.ts";

/** The error in a URL of one of these adapters, without any of its values, or undefined. */
export function findUrlError(adapters: Adapters<unknown>, text: string): string | undefined {
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
function findHostError(adapter: Adapter<unknown>, text: string, url: URL, others: (URL | null)[]) {
  const { form, hostParameter = "" } = adapter;
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
function findFolderError({ form }: Adapter<unknown>, text: string, url: URL): string | undefined {
  if (url.host !== "") return `has a host; it must be ${form}`;
  const [, folder = ""] = /^[^:]*:(?:\/\/)?([^?]*)/.exec(text) ?? [];
  if (!form.includes("FOLDER")) return folder === "" ? undefined : `has a path; it must be ${form}`;
  if (folder === "") return `has no folder; it must be ${form}`;
  if (!credentials.test(decodeURIComponent(folder))) return undefined;
  return `has a folder with credentials; it must be ${form}`;
}

/** The error in the path, the password or the parameters of a URL. */
function findPartError(adapter: Adapter<unknown>, url: URL): string | undefined {
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

function isDecodable({ username, password, pathname }: URL): boolean {
  try {
    decodeURIComponent(username + password + pathname);
    return true;
  } catch {
    return false;
  }
}

/** The adapter that the scheme of a URL selects. */
export const adapterFor = <Port>(adapters: Adapters<Port>, { protocol }: URL) =>
  Object.hasOwn(adapters, protocol) ? adapters[protocol] : undefined;
