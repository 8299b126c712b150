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

/** Answers what cannot be read as a request at all, in the service's own words, and ends the connection. */
export const answerBrokenRequests = (renderError: RenderError) =>
  function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
    if (error.code === "ECONNRESET" || socket.destroyed) return;
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

/**
 * Answers what the platform would answer by itself, with an empty body: an expectation it does not know is passed over,
 * and a request without `Host` is refused in the service's own words.
 */
export function answerOddRequests(app: FastifyInstance): void {
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  app.addHook("onRequest", (request, _reply, done) => {
    const { httpVersion, headers } = request.raw;
    done(
      headers.host === undefined && httpVersion === "1.1"
        ? new Refusal(400, ["the header Host is missing"])
        : undefined,
    );
  });
}
