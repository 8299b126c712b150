import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import { respondToMalformed } from "./connections.ts";
import type { RenderError } from "./errors.ts";

const told: RenderError = (status, messages) => ({
  type: "application/problem+json",
  body: { status, detail: `${messages.join("; ")} – ü` },
});

/** What a client hears that sends these bytes, to a server that begins a reply and leaves it open. */
async function hear(bytes: string, options: object = {}): Promise<string> {
  const server = createServer({ ...options }, (_, response) => response.write("begun"));
  server.on("clientError", (error, socket) => respondToMalformed(told)(error, socket as Socket));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write(bytes);
  const heard = await text(socket);
  server.close();
  return heard;
}

const body = (status: number, message: string) => `${JSON.stringify({ status, detail: `${message} – ü` })}\n`;

test("what is no request is answered in full, and the connection ends", async () => {
  const expected = body(400, "this is not a valid HTTP request");
  expect(await hear("nonsense\r\n\r\n")).toBe(
    "HTTP/1.1 400 Bad Request\r\ncontent-type: application/problem+json; charset=utf-8\r\n" +
      `content-length: ${Buffer.byteLength(expected)}\r\nconnection: close\r\n\r\n${expected}`,
  );
});

test("a request that does not arrive in time is 408", async () => {
  const slow = { headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 20 };
  const heard = await hear("GET / HTTP/1.1\r\nhost: a\r\n", slow);
  expect(heard).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/);
  expect(heard).toContain(body(408, "the request did not arrive in time"));
});

test("nothing is said into a reply that is on its way", async () => {
  const heard = await hear("GET / HTTP/1.1\r\nhost: a\r\n\r\nnonsense\r\n\r\n").catch(() => "cut off");
  expect(heard).not.toContain("400");
});

test("a connection that is gone is let be", () => {
  const socket = { destroyed: false, writable: true, write: vi.fn(), destroySoon: vi.fn(), destroy: vi.fn() };
  const answer = respondToMalformed(told);
  answer(Object.assign(new Error("gone"), { code: "ECONNRESET" }), socket as unknown as Socket);
  answer(new Error("gone"), { ...socket, destroyed: true } as unknown as Socket);
  expect([socket.write.mock.calls, socket.destroySoon.mock.calls]).toEqual([[], []]);
});
