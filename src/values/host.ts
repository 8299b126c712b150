import { BlockList, isIP } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** True for an address of the loopback interface, without brackets. */
export function isLoopbackAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && loopback.check(address, version === 4 ? "ipv4" : "ipv6");
}

/** The host of an authority (`HOST:PORT`) in its normal form, such as `127.0.0.1` for `127.1:80`; undefined if it is none. */
export function hostOfAuthority(authority: string): string | undefined {
  return URL.parse(`http://${authority}`)?.hostname.replace(/^\[|\]$|\.$/g, "");
}

/**
 * True if the host of an authority is one of these, or can only be on the machine itself: `localhost` or an address of
 * loopback.
 */
export function isReachedBy(authority: string, hosts: Iterable<string>): boolean {
  const host = hostOfAuthority(authority);
  if (host === undefined) return false;
  return host === "localhost" || isLoopbackAddress(host) || [...hosts].includes(host);
}

/** The hosts in a list with commas, in their normal form; undefined if one of them is no host, or has a port. */
export function readHosts(text: string): string[] | undefined {
  const items = text.split(",").flatMap((item) => item.trim() || []);
  const hosts = items.map((item) => {
    const authority = isIP(item) === 6 ? `[${item}]` : item;
    return /^(?:[\w.-]+|\[[\da-f:.]+\])$/i.test(authority) ? hostOfAuthority(authority) : undefined;
  });
  return hosts.every((host) => host !== undefined) ? hosts : undefined;
}
