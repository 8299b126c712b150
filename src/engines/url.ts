import { pathToFileURL } from "node:url";

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

/** True if nothing follows the credentials: another host may be in a parameter. The URL standard does not allow this form. */
export const hasNoHost = (text: string) => /^[^/?#]*:\/\/[^/?#]*@(?:[/?#]|$)/.test(text);

/** One URL for each host. */
export function parseUrls(text: string): (URL | null)[] {
  const [, start, hosts = "", end] = /^([^/?#]*:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(text) ?? [];
  if (hasNoHost(text)) return [URL.parse(`${start}localhost${end}`)];
  if (!hosts.includes(",")) return [parseUrl(text)];
  return hosts.split(",").map((host) => (host === "" ? null : URL.parse(start + host + end)));
}

/** A folder can be relative to the working directory. The URL standard has that for schemes that it does not know only. */
const parseUrl = (text: string) =>
  URL.parse(text, /^file:/i.test(text) ? `${pathToFileURL(process.cwd())}/` : undefined);

/** What can be credentials in a text without `//`, up to the last `@`: a user before any slash, or anything with a colon. */
export const credentials = /^([/\\]*[^/\\]*@|.*:.*@)/s;
