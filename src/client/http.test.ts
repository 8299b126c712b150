import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HttpRequest } from "./http.ts";
import { httpByFetch } from "./http-fetch.ts";
import { http as httpByUndici } from "./http-node.ts";

let respond: (response: ServerResponse) => void;
let received: IncomingMessage;
let body: string;
/** Resolves when the client has ended the last request before its response is complete. */
let left: Promise<unknown>;
const server = createServer(async (request, response) => {
  received = request;
  left = once(response, "close");
  body = await text(request);
  respond(response);
});
let origin: string;
beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe.each([
  ["undici", httpByUndici],
  ["fetch", httpByFetch(fetch)],
])("a request by %s", (_name, http) => {
  const send = (change: Partial<HttpRequest> = {}) =>
    http.send({
      ...{ origin, path: "/", method: "GET", headers: new Headers(), body: undefined },
      signal: new AbortController().signal,
      ...change,
    });

  test("arrives as it is, and so does every header of its response", async () => {
    respond = (response) => response.writeHead(201, { "X-Colour": ["red", "blue"] }).end("💷");
    const headers = new Headers({ "content-type": "application/json" });
    const response = await send({ path: "/a%2Fb?c=%20", method: "PUT", headers, body: '["ü"]' });
    expect(received).toMatchObject({
      url: "/a%2Fb?c=%20",
      method: "PUT",
      headers: { "content-type": "application/json", "content-length": "6" },
    });
    expect(body).toBe('["ü"]');
    expect([response.status, response.headers.get("x-colour")]).toEqual([201, "red, blue"]);
    expect(await response.text()).toBe("💷");
    await send();
    expect(received.headers).not.toHaveProperty("content-type");
  });

  test("does not follow a redirect", async () => {
    respond = (response) => response.writeHead(302, { location: "/other" }).end("[]");
    expect(await send()).toMatchObject({ status: 302 });
  });

  test("has its response as it arrives, and ends with its reader", async () => {
    respond = (response) => response.write("a\n");
    for await (const piece of (await send()).chunks()) {
      expect(Buffer.from(piece).toString()).toBe("a\n");
      break;
    }
    await left;
  });

  test("rejects if the connection breaks, before the response or in it", async () => {
    respond = (response) => response.destroy();
    await expect(send()).rejects.toThrow(Error);
    respond = (response) => response.writeHead(200, { "content-length": 1000 }).write("[");
    const cut = async () => {
      const response = await send();
      received.socket.destroy();
      return response;
    };
    await expect((await cut()).text()).rejects.toThrow(Error);
    await expect(Array.fromAsync((await cut()).chunks())).rejects.toThrow(Error);
  });

  test("ends when its signal aborts, before the response or in it", async () => {
    const stop = new AbortController();
    respond = () => stop.abort(new Error("cancelled"));
    await expect(send({ signal: stop.signal })).rejects.toThrow("cancelled");
    await left;
    const stopReading = new AbortController();
    respond = (response) => response.write("a\n");
    const response = await send({ signal: stopReading.signal });
    stopReading.abort(new Error("cancelled"));
    await expect(response.text()).rejects.toThrow("cancelled");
    await left;
  });
});

test("undici sends the steps of a path as they are; fetch resolves them", async () => {
  respond = (response) => response.end();
  expect([httpByUndici.resolvesPaths, httpByFetch(fetch).resolvesPaths]).toEqual([false, true]);
  const headers = new Headers();
  const { signal } = new AbortController();
  await httpByUndici.send({ origin, path: "/a/../b", method: "GET", headers, body: undefined, signal });
  expect(received.url).toBe("/a/../b");
});
