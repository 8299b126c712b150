import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { RenderError } from "./errors.ts";
import { isJson, toJson } from "./json.ts";
import { Refusal } from "./refusal.ts";

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
    const { type, body } = renderError(status, [message]);
    const text = isJson(type) ? toJson(body) : String(body);
    if (socket.writable) {
      socket.write(
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: ${type}; charset=utf-8\r\n` +
          `content-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
      );
    }
    socket.destroySoon();
  };

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

/** A host's name or address and its port (RFC 9110, section 7.2), or nothing. */
const hostForm = /^[\w.\-~%!$&'()*+;=:[\]]*$/;

/**
 * Refuses a request without `Host`, with two or with one that is no host's name (RFC 9112, section 3.2), in the service's
 * own words, where the platform would send an empty body or let it pass. It looks at the headers as they came, since
 * this is done for every request.
 */
export function refuseOddHost({ httpVersion, rawHeaders }: IncomingMessage): Refusal | undefined {
  let host: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length !== 4 || name.toLowerCase() !== "host") continue;
    if (host !== undefined) return new Refusal(400, ["there is more than one header Host"]);
    host = rawHeaders[index + 1] as string;
  }
  if (host === undefined) {
    return httpVersion === "1.1" ? new Refusal(400, ["the header Host is missing"]) : undefined;
  }
  return hostForm.test(host) ? undefined : new Refusal(400, ["the header Host names no host"]);
}

/** Refuses a query with malformed percent-encoding, as the router refuses a path. */
export function refuseOddQuery(url: string): Refusal | undefined {
  const query = url.indexOf("?");
  if (query === -1 || !url.includes("%", query)) return undefined;
  try {
    decodeURIComponent(url.slice(query));
    return undefined;
  } catch {
    return new Refusal(400, ["malformed percent-encoding in the query"]);
  }
}
