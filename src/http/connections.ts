import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isJson, toJson } from "../values/json.ts";
import type { ErrorReply, RenderError } from "./errors.ts";
import { Refusal } from "./http-error.ts";

const faults: Record<string, { status: number; message: string }> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: "the request line and headers are larger than 16 KiB" },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: "the request did not arrive in time" },
};

/** In which a request must have arrived. It is looked at once a second. */
export const requestMaxMs = 30_000;
export const requestCheckMs = 1000;
/** How often it is looked whether anything has moved on a connection. */
const stalledCheckMs = 20_000;

/** A socket with the reply that it is sending; the platform's own handler looks there, too. */
type Answering = Socket & { _httpMessage?: { headersSent: boolean } };

/** Answers what cannot be read as a request at all, in the service's own words, and ends the connection. */
export const answerBrokenRequests = (renderError: RenderError) =>
  function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
    if (error.code === "ECONNRESET" || socket.destroyed) return;
    if ((socket as Answering)._httpMessage?.headersSent) {
      // What would be said here would be read as a part of the reply that is on its way.
      socket.destroy();
      return;
    }
    const { status, message } = faults[error.code ?? ""] ?? {
      status: 400,
      message: "this is not an HTTP request",
    };
    endWith(socket, status, renderError(status, [message]));
  };

/** Answers CONNECT, which no path is asked with; the platform would end the connection without a word. */
export const refuseConnect = (renderError: RenderError) =>
  function answerConnect(_request: IncomingMessage, socket: Duplex): void {
    socket.on("error", () => {});
    const reply = renderError(405, ["CONNECT is not allowed here: this service is no proxy"]);
    endWith(socket as Socket, 405, reply, "allow: \r\n");
  };

function endWith(socket: Socket, status: number, { type, body }: ErrorReply, headers = ""): void {
  const text = isJson(type) ? toJson(body) : String(body);
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}content-type: ${type}; charset=utf-8\r\n` +
        `content-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
    );
  }
  socket.destroySoon();
}

/**
 * Ends a connection whose reader has taken nothing of a reply from one look to the next. A reply that is still being made
 * is waited for, and so is a request, which is answered when it is late. Idle connections have a time of their own.
 */
export function endStalled(server: Server): void {
  server.setTimeout(stalledCheckMs, (socket) => {
    const isIdle = socket.timeout !== stalledCheckMs;
    if (isIdle || socket.writableLength > 0) socket.destroy();
  });
}

/**
 * The target of a request as its path and query. One in absolute form (RFC 9112, section 3.2.2) names the host as well,
 * whatever the header `Host` says.
 */
export function readTarget({ url = "/", headers }: Pick<IncomingMessage, "url" | "headers">): string {
  if (url.startsWith("/")) return url;
  const [, authority, target = ""] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  if (authority === undefined) return url;
  headers.host = authority;
  return target.startsWith("/") ? target : `/${target}`;
}

/** A host's name or address and its port (RFC 9110, section 7.2; RFC 3986, section 3.2.2). */
const hostForm = /^(?:[\w.\-~%!$&'()*+;=]+|\[[\da-f:.]+\])(?::\d*)?$/i;

/** What was a host last; none need not be named. Nearly all requests name the same. */
let knownHost = "";

/**
 * Refuses a request without `Host`, with two or with one that is no host's name (RFC 9112, section 3.2), in the service's
 * own words, where the platform would send an empty body or let it pass: every link in a reply begins with it. Looks at
 * the headers as they came, since this is done for every request.
 */
export function refuseOddHost({ httpVersion, rawHeaders, headers }: IncomingMessage): Refusal | undefined {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  if (count > 1) return new Refusal(400, ["there is more than one header Host"]);
  if (count === 0 && httpVersion === "1.1") return new Refusal(400, ["the header Host is missing"]);
  const { host = "" } = headers;
  if (host === knownHost || host === "") return undefined;
  if (!hostForm.test(host) || !URL.canParse(`http://${host}`)) {
    return new Refusal(400, ["the header Host names no host"]);
  }
  knownHost = host;
  return undefined;
}

/**
 * Refuses a target with `#`, which the router would take for the beginning of a query, and a query with malformed
 * percent-encoding, as the router refuses a path.
 */
export function refuseOddTarget(url: string): Refusal | undefined {
  if (url.includes("#")) return new Refusal(400, ["a # in the target must be percent-encoded, as %23"]);
  const query = url.indexOf("?");
  if (query === -1 || !url.includes("%", query)) return undefined;
  try {
    decodeURIComponent(url.slice(query));
    return undefined;
  } catch {
    return new Refusal(400, ["malformed percent-encoding in the query"]);
  }
}
