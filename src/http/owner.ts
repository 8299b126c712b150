import type { FastifyRequest } from "fastify";

/**
 * The owner of a share: a caller, who is the subject of a token or else an address, or a purpose of the service itself. The
 * kind comes first, so that no text of a caller is another owner.
 */
export type Owner = `subject ${string}` | `address ${string}` | `purpose ${string}`;

/** The caller who sent a request. A proxy that is trusted states the address. */
export function ownerOf({ caller, ip }: Pick<FastifyRequest, "caller" | "ip">): Owner {
  const subject = caller?.claims.sub;
  return typeof subject === "string" ? `subject ${subject}` : `address ${networkOf(ip)}`;
}

/** Of an IPv6 address the network of 64 bits, since a caller has a whole one (RFC 4291, section 2.5.4). */
function networkOf(ip: string | undefined): string {
  if (!ip?.includes(":")) return String(ip);
  const [, ipv4] = /^::ffff:([\d.]+)$/i.exec(ip) ?? [];
  if (ipv4 !== undefined) return ipv4;
  const [head = [], tail = []] = ip.split("::").map((part) => part.split(":"));
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill("0");
  return [...head, ...zeros, ...tail]
    .slice(0, 4)
    .map((group) => group || "0")
    .join(":");
}

/** At most a third of anything is for one owner, so that others find room. */
export const shareOf = (whole: number): number => Math.ceil(whole / 3);
