import type { FastifyRequest } from "fastify";
import { isReachedBy } from "../../values/host.ts";
import { HttpError } from "../http-error.ts";
import type { Cors } from "./cors.ts";

/**
 * Headers of every response, for browsers. They take it for nothing but its media type, show it in no frame, load nothing for
 * it, and send its URL, which can contain an id or a token, to no other host.
 */
export const securityHeaders = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
};

/** The header `Cache-Control` of every response that belongs to no operation. */
export const noStore = "private, no-store";

/** The error of a request that a page in a browser may not send, undefined for any other. */
type PageCheck = (request: FastifyRequest) => HttpError | undefined;

const unknownHost = "this service has no such host; the setting ALLOWED_HOSTS lists its hosts";

/**
 * The 421 for a host that is not allowed. A browser sends requests also to addresses that only its machine can reach, and a
 * page can have a name of its own resolved to such an address (DNS rebinding). Checks the header `Host`, and the host that
 * a trusted proxy states. Nearly all requests have the same.
 */
export function openHostCheck(allowedHosts: string[]): PageCheck {
  let known = "";
  return (request) => {
    const { headers, socket } = request.raw;
    const { host = "" } = headers;
    const stated = headers["x-forwarded-host"] === undefined ? host : request.host;
    if (host === known && stated === known) return undefined;
    // No name leads a browser to a request with the address at which the connection has arrived.
    const hosts = [...allowedHosts, plainAddress(socket.localAddress)];
    // HTTP/1.0 can have no host.
    if (![host, stated].every((one) => one === "" || isReachedBy(one, hosts)))
      return new HttpError(421, [unknownHost]);
    known = host;
    return undefined;
  };
}

/** An IPv4 address without the form that it has in a socket for IPv6, too. */
const plainAddress = (address = "") => address.replace(/^::ffff:(?=[\d.]+$)/, "");

/** Methods that change nothing. */
const safeMethods = new Set(["GET", "HEAD", "OPTIONS"]);

const crossOrigin =
  "the request is from a page of another origin; the setting CORS_ORIGINS lists those that may send it";

/** The 403 for a request of a page of another origin, with a method that changes something (cross-site request forgery). */
export function openOriginCheck(publicUrl: string | undefined, cors: Cors | undefined): PageCheck {
  const publicHost = publicUrl && new URL(publicUrl).host;
  return (request) => {
    if (safeMethods.has(request.method) || isSameOrigin(request, publicHost)) return undefined;
    return cors?.isAllowed(request) ? undefined : new HttpError(403, [crossOrigin], {}, "cross-origin");
  };
}

/**
 * True for a request of a page of the service, and of a program that is no browser: those send neither header. A browser sends
 * `Sec-Fetch-Site` to loopback and over HTTPS (W3C Fetch Metadata), and `Origin` with every method that changes something.
 */
function isSameOrigin({ raw: { headers }, host }: FastifyRequest, publicHost: string | undefined): boolean {
  const { origin, "sec-fetch-site": site } = headers;
  if (site !== undefined) return site === "same-origin" || site === "none";
  if (origin === undefined) return true;
  const page = URL.parse(origin);
  const isHostOfPage = (own: string | undefined) =>
    own !== undefined && URL.parse(`${page?.protocol}//${own}`)?.host === page?.host;
  return page !== null && [headers.host, host, publicHost].some(isHostOfPage);
}
