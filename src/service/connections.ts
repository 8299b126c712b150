import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import type { RenderError } from "./errors.ts";
import { toJson } from "./json.ts";
import { Refusal } from "./refusal.ts";

const faults: Record<string, { status: number; message: string }> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: "the request line and headers are larger than 16 KiB" },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: "the request did not arrive in time" },
};

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
    const text = type.endsWith("json") ? toJson(body) : String(body);
    if (socket.writable) {
      socket.write(
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: ${type}; charset=utf-8\r\n` +
          `content-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
      );
    }
    socket.destroySoon();
  };

/** A host's name or address and its port (RFC 9110, section 7.2), or nothing. */
const hostForm = /^[\w.\-~%!$&'()*+;=:[\]]*$/;

/**
 * Answers what the platform would answer by itself, with an empty body, or let pass: an expectation it does not know is
 * passed over; a request without `Host`, with two or with one that is no host's name, is refused in the service's own
 * words (RFC 9112, section 3.2).
 */
export function answerOddRequests(app: FastifyInstance): void {
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  app.addHook("onRequest", (request, _reply, done) => {
    const { httpVersion, headers, rawHeaders } = request.raw;
    const isHost = (name: string, index: number) =>
      name.length === 4 && index % 2 === 0 && name.toLowerCase() === "host";
    const count = rawHeaders.filter(isHost).length;
    if (count === 0 && httpVersion === "1.1") done(new Refusal(400, ["the header Host is missing"]));
    else if (count > 1) done(new Refusal(400, ["there is more than one header Host"]));
    else if (!hostForm.test(headers.host ?? "")) done(new Refusal(400, ["the header Host names no host"]));
    else done();
  });
}
