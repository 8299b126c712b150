import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";

const responseMaxMs = 60_000;
const agent = new Agent({ connections: 200, headersTimeout: responseMaxMs, bodyTimeout: responseMaxMs });

/** The header by which a request is that of another caller than the attacker: the services trust the proxies of this machine. */
export const ofAnother = { "x-forwarded-for": "192.0.2.1" };

export interface HttpRequest {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  headers?: Record<string, string>;
  body?: unknown;
}

/** Sends a request and reads the response. Rejects if it has another status than these. */
export async function send(url: string, statuses: number[], given: HttpRequest = {}): Promise<string> {
  const { method = "GET", body } = given;
  const headers = { ...(body !== undefined && { "content-type": "application/json" }), ...given.headers };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await request(url, { dispatcher: agent, method, headers, body: text });
  const content = await response.body.text();
  if (!statuses.includes(response.statusCode)) {
    throw new Error(`${method} ${url.slice(0, 200)}: ${response.statusCode} ${content.slice(0, 300)}`);
  }
  return content;
}

/** Runs work `count` times, up to `concurrency` at the same time. */
export async function repeat(
  count: number,
  concurrency: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: Math.min(count, concurrency) }, worker));
}

/** Reads each document of the service for the first time. */
export async function readDocuments(url: string): Promise<void> {
  const documents = [
    "/openapi.yaml",
    "/openapi.json",
    "/docs",
    "/docs/swagger-ui.js",
    "/.well-known/api-catalog",
  ];
  await Promise.all(documents.map((path) => send(url + path, [200])));
}

/** The text of a GET request. */
export const getRequest = (path: string, accept = "*/*") =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: ${accept}\r\n\r\n`;

/** Invalid JSON texts of about this length, and valid ones of unusual shapes. */
export const oddTexts = (length: number): string[] => [
  "[".repeat(length),
  `{"event_details":${"[".repeat(length / 2.1)}${"]".repeat(length / 2.1)}}`,
  `[${"{},".repeat(length / 3.2)}{}]`,
  `[${"1,".repeat(length / 2.2)}1]`,
  `[${'"a",'.repeat(length / 4.2)}"a"]`,
  `{${Array.from({ length: length / 14 }, (_, index) => `"m${index}":1`).join(",")}}`,
  `{"event_details":{${Array.from({ length: length / 16 }, (_, index) => `"m${index}":1`)}}}`,
  `{"a":${"9".repeat(length - 10)}}`,
  `"${"a".repeat(length)}"`,
  `"${"\\u0041".repeat(length / 6.1)}"`,
  " ".repeat(length),
];

/**
 * Opens and closes connections, some at a time, as different clients do. Each sends a request. Without `onData` they read
 * nothing of the responses.
 */
export async function openClients(
  url: string,
  count: number,
  requestLines: (index: number) => string,
  onData?: (chunk: Buffer) => void,
): Promise<AsyncDisposable> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index += 1) {
    const socket = connect({ host: hostname, port: Number(port) });
    if (onData) socket.on("data", onData);
    else socket.pause();
    socket.on("error", () => {});
    socket.write(requestLines(index));
    sockets.push(socket);
    if (index % 20 === 0) await sleep(5);
  }
  return {
    async [Symbol.asyncDispose]() {
      for (const [index, socket] of sockets.entries()) {
        socket.destroy();
        if (index % 20 === 0) await sleep(5);
      }
    },
  };
}
