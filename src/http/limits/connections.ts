import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isJson, toJson } from "../../values/json.ts";
import { noStore, securityHeaders } from "../access/cross-origin.ts";
import type { ErrorContent, RenderError } from "../errors.ts";
import { failure } from "../failure.ts";
import { HttpError } from "../http-error.ts";
import { STATUS_CODES } from "../node-http.ts";
import { completeProblem } from "../problem.ts";
import { newRequestId, requestIdHeader } from "../request-id.ts";

const errors: Record<string, [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, "the request line and headers are larger than 16 KiB"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "the request did not arrive in time"],
};

/**
 * Default of the time for which an idle connection stays open. A proxy must close it first, since a request that it sends
 * while the service closes the connection fails. Google Cloud keeps its connections for 600 seconds and cannot change that.
 */
export const keepAliveMs = 620_000;

/** A socket with the response that it sends; the default handler of Node.js reads the same member. */
type RespondingSocket = Socket & { _httpMessage?: { headersSent: boolean } };

/** Responds to malformed requests in the error format of the service and closes the connection. */
export const respondToMalformed = (renderError: RenderError, publicUrl?: string) =>
  function respond(error: Error & { code?: string }, socket: Socket): void {
    if (error.code === "ECONNRESET" || socket.destroyed) return;
    if ((socket as RespondingSocket)._httpMessage?.headersSent) {
      // Anything written now would become part of that response.
      socket.destroy();
      return;
    }
    const [status, message] = errors[error.code ?? ""] ?? [400, "this is not a valid HTTP request"];
    endWith(socket, status, renderError(failure(status, message)), { publicUrl });
  };

/** Responds 405 to CONNECT. The default of Node.js is to close the connection without a response. */
export const rejectConnect = (renderError: RenderError, publicUrl?: string) =>
  function respond(_request: IncomingMessage, socket: Duplex): void {
    socket.on("error", () => {});
    const content = renderError(failure(405, "CONNECT is not allowed here: this service is not a proxy"));
    endWith(socket as Socket, 405, content, { publicUrl, headers: "allow: \r\n" });
  };

const commonLines = Object.entries({ ...securityHeaders, "cache-control": noStore })
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join("");

function endWith(
  socket: Socket,
  status: number,
  { type, body }: ErrorContent,
  { publicUrl, headers = "" }: { publicUrl?: string | undefined; headers?: string },
): void {
  const id = newRequestId();
  const text = isJson(type) ? toJson(completeProblem(type, body, id, publicUrl)) : String(body);
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}content-type: ${type}; charset=utf-8\r\n` +
        `${requestIdHeader}: ${id}\r\n${commonLines}` +
        `content-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
    );
  }
  socket.destroySoon();
}

/** More requests that wait for each other on one connection would only take memory. */
const pipelinedMax = 100;

const previous = Symbol("the response before");
const waiting = Symbol("the number of requests that wait for it");
type PipeliningSocket = Socket & { [previous]?: ServerResponse; [waiting]?: number };

/**
 * The response before this one on the same connection, if it has not been sent yet (HTTP/1.1 pipelining). The request then
 * begins after it (`afterResponse`), so that one connection has one request in flight.
 */
export function unsentBefore(socket: PipeliningSocket, response: ServerResponse): ServerResponse | undefined {
  const before = socket[previous];
  socket[previous] = response;
  return !before || before.writableFinished || before.destroyed ? undefined : before;
}

/** Begins a request when the response before it has been sent. Closes a connection with too many that wait. */
export function afterResponse(before: ServerResponse, socket: PipeliningSocket, begin: () => void): void {
  socket[waiting] = (socket[waiting] ?? 0) + 1;
  if (socket[waiting] > pipelinedMax) socket.destroy();
  before.once("close", () => {
    socket[waiting] = (socket[waiting] as number) - 1;
    if (!socket.destroyed) begin();
  });
}

type RequestHead = Pick<IncomingMessage, "url" | "method" | "headers">;

/**
 * The path and query of a request target (RFC 9112, section 3.2). A target in absolute form also sets the host, which takes
 * precedence over the header `Host`. `OPTIONS *` is about the root.
 */
export function readTarget({ url = "/", method, headers }: RequestHead): string {
  if (url.startsWith("/")) return url;
  if (url === "*" && method === "OPTIONS") return "/";
  const [, authority, target = ""] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  if (authority === undefined) return url;
  headers.host = authority;
  return target.startsWith("/") ? target : `/${target}`;
}

/** A host name or address with an optional port (RFC 9110, section 7.2; RFC 3986, section 3.2.2). */
const hostForm = /^(?:[\w.\-~%!$&'()*+;=]+|\[[\da-f:.]+\])(?::\d*)?$/i;

export const isHost = (text: string): boolean => hostForm.test(text) && URL.canParse(`http://${text}`);

/** The last valid host. Nearly all requests have the same. */
let knownHost = "";

/**
 * The 400 for a request without `Host`, with several or with an invalid one (RFC 9112, section 3.2): links in a response
 * begin with it. Node.js would respond with an empty body or accept it. Reads the raw headers, since every request pays
 * for this.
 */
export function hostError({ httpVersion, rawHeaders, headers }: IncomingMessage): HttpError | undefined {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  if (count > 1) return hostFault({ maxItems: 1 }, "there is more than one header Host");
  if (count === 0 && httpVersion === "1.1")
    return hostFault({ required: true }, "the header Host is missing");
  const { host = "" } = headers;
  if (host === knownHost || host === "") return undefined;
  if (!isHost(host)) return hostFault({ format: "host" }, "the header Host is not a valid host");
  knownHost = host;
  return undefined;
}

const hostFault = (rule: Record<string, unknown>, detail: string) =>
  new HttpError(400, [{ header: "Host", rule, detail }]);

/**
 * The 400 for a target with `#`, after which the router would expect a query, and for a query with malformed
 * percent-encoding. The router itself rejects it in a path.
 */
export function targetError(url: string): HttpError | undefined {
  if (url.includes("#")) return new HttpError(400, ["a # in the target must be percent-encoded, as %23"]);
  const query = url.indexOf("?");
  if (query === -1 || !url.includes("%", query)) return undefined;
  try {
    decodeURIComponent(url.slice(query));
    return undefined;
  } catch {
    return new HttpError(400, ["malformed percent-encoding in the query"]);
  }
}
