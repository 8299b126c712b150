import type { FastifyRequest } from "fastify";
import type { Owner } from "../../waiting/owner.ts";

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
