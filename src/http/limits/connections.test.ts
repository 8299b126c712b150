import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import type { RenderError } from "../errors.ts";
import { messagesOf } from "../failure.ts";
import { respondToMalformed } from "./connections.ts";

const renderError: RenderError = (failed) => ({
  type: "application/problem+json",
  body: { type: "/problems/a", status: failed.status, detail: `${messagesOf(failed).join("; ")} – ü` },
});

/** Sends bytes to a server whose responses never end. Resolves with everything that the client receives. */
async function sendBytes(bytes: string, publicUrl?: string): Promise<string> {
  const server = createServer((_, response) => response.write("started"));
  const respond = respondToMalformed(renderError, publicUrl);
  server.on("clientError", (error, socket) => respond(error, socket as Socket));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write(bytes);
  const received = await text(socket);
  server.close();
  return received;
}

test("a malformed request gets a complete response, and the connection is closed", async () => {
  const received = await sendBytes("nonsense\r\n\r\n");
  const request_id = /^x-request-id: (.*)\r$/m.exec(received)?.[1];
  const detail = "this is not a valid HTTP request – ü";
  const expected = `${JSON.stringify({ type: "/problems/a", status: 400, detail, request_id })}\n`;
  expect(received.replace(/^x-request-id: .*\r\n/m, "")).toBe(
    "HTTP/1.1 400 Bad Request\r\ncontent-type: application/problem+json; charset=utf-8\r\n" +
      "x-content-type-options: nosniff\r\n" +
      "content-security-policy: default-src 'none'; frame-ancestors 'none'\r\n" +
      "referrer-policy: no-referrer\r\ncache-control: private, no-store\r\n" +
      `content-length: ${Buffer.byteLength(expected)}\r\nconnection: close\r\n\r\n${expected}`,
  );
});

test("the type of its problem is absolute with a public URL", async () => {
  const received = await sendBytes("nonsense\r\n\r\n", "https://api.test/pay");
  expect(received).toContain('{"type":"https://api.test/pay/problems/a",');
});

test("nothing is written into a response that has begun", async () => {
  const received = await sendBytes("GET / HTTP/1.1\r\nhost: a\r\n\r\nnonsense\r\n\r\n").catch(
    () => "cut off",
  );
  expect(received).not.toContain("400");
});

test("nothing is written to a closed connection", () => {
  const socket = { destroyed: false, writable: true, write: vi.fn(), destroySoon: vi.fn(), destroy: vi.fn() };
  const respond = respondToMalformed(renderError);
  respond(Object.assign(new Error("closed"), { code: "ECONNRESET" }), socket as unknown as Socket);
  respond(new Error("closed"), { ...socket, destroyed: true } as unknown as Socket);
  expect([socket.write.mock.calls, socket.destroySoon.mock.calls]).toEqual([[], []]);
});
