import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate as afterThisTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import type { Authenticate } from "../access/security.ts";
import type { Request } from "../handlers.ts";
import { HttpError } from "../http-error.ts";
import { type AnyHandlers, contractOf, inPath, operation, serve } from "../service.fixture.ts";

const inFlightMax = 1000;
/** Of one caller. */
const ownMax = 334;

const text = { "text/plain": { schema: { type: "string" } } };
const stream = { "text/event-stream": { schema: { type: "string" } } };
const object = { "application/json": { schema: { type: "object" } } };
const kind = [inPath("kind", { type: "integer" })];
const tagged = {
  200: { description: "a list", content: object, headers: { ETag: { schema: { type: "string" } } } },
  304: { description: "the list has not changed" },
};
const contract = contractOf({
  "/held": { get: operation("hold", text) },
  "/fail/{kind}": { get: operation("fail", text, { parameters: kind }) },
  "/wait": { get: operation("wait", text) },
  "/stream/{kind}": { get: operation("follow", stream, { parameters: kind }) },
  "/tagged": { get: operation("getTagged", object, { responses: tagged }) },
  "/things": { post: operation("addThing", text, { requestBody: { required: true, content: object } }) },
  "/health": { get: operation("checkHealth", text, { tags: ["health"] }) },
});

/** A service whose requests to `/held` stay in flight until they are released. */
async function startService() {
  const released = Promise.withResolvers<void>();
  const counts = { held: 0, waiting: 0, left: 0, streamsClosed: 0 };
  const done = { status: 200, type: "text/plain", body: "done" };
  const handlers: AnyHandlers = {
    async hold() {
      counts.held += 1;
      await released.promise;
      return done;
    },
    async fail({ path }: { path: { kind: number } }) {
      if (path.kind === 0) throw new Error("a bug");
      if (path.kind >= 500) throw new HttpError(path.kind, ["unavailable"]);
      return { ...done, status: path.kind };
    },
    async wait({ signal }: Request<unknown>) {
      counts.waiting += 1;
      await once(signal, "abort");
      counts.left += 1;
      if (counts.left % 2 === 0) throw signal.reason;
      return done;
    },
    async follow({ path }: { path: { kind: number } }) {
      async function* events() {
        try {
          yield "data: first\n\n";
          if (path.kind === 0) throw new Error("a bug");
          for (;;) yield `data: ${"x".repeat(65_536)}\n\n`;
        } finally {
          counts.streamsClosed += 1;
        }
      }
      return { status: 200, type: "text/event-stream", body: events() };
    },
    getTagged: async () => ({ status: 200, body: {} }),
    addThing: async () => done,
    checkHealth: async () => done,
  };
  const service = await serve(contract, handlers);
  return { ...service, counts, release: released.resolve };
}

const json = { "content-type": "application/json" };
const post = (body: string, headers: Record<string, string> = json) =>
  ({ method: "POST", body, headers }) as const;

test("each request gives its place back, however it ends; beyond 1000 in flight, 334 of a caller, only health checks succeed", async () => {
  await using service = await startService();
  const { send, counts, base } = service;
  const { headers } = await send("/tagged");
  const failing = [
    ["/fail/0", 500],
    ["/fail/404", 404],
    ["/fail/503", 503],
    ["/fail/504", 504],
    ["/fail/x", 400],
    ["/nowhere", 404],
    ["/held", 405, { method: "DELETE" }],
    ["/fail/404", 404, { method: "HEAD" }],
    ["/fail/0", 500, { method: "HEAD" }],
    ["/stream/1", 200, { method: "HEAD" }],
    ["/tagged", 304, { headers: { "if-none-match": String(headers.etag) } }],
    ["/things", 200, post("{}")],
    ["/things", 400, post("{")],
    ["/things", 413, post("x".repeat(2 ** 20 + 1))],
    ["/things", 415, post("{}", { "content-type": "text/plain" })],
  ] as const;
  for (const [path, status, options] of failing)
    for (let times = 0; times < 2; times += 1)
      expect([path, (await send(path, options)).status]).toEqual([path, status]);

  const { hostname, port } = new URL(base);
  const open = (path: string) => {
    const socket = connect(Number(port), hostname);
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
    return socket;
  };
  // The clients of these go away: while the handler waits, and while the response is sent.
  const gone = [open("/wait"), open("/wait"), open("/stream/1")];
  const cut = once(open("/stream/0").resume(), "close");
  await eventually(() => expect(counts.waiting).toBe(2));
  await once(gone[2] as NodeJS.EventEmitter, "data");
  await cut;
  for (const socket of gone) socket.destroy();
  await eventually(() => expect([counts.left, counts.streamsClosed]).toEqual([2, 2]));

  const sendHeld = (remoteAddress: string, length: number) =>
    Array.from({ length }, async () => {
      const { statusCode, headers, body } = await service.app.inject({ url: "/held", remoteAddress });
      return [statusCode, headers["retry-after"], body];
    });
  const overloaded = [
    503,
    "1",
    "too many requests are in flight, of this caller or of all; try again later\n",
  ];
  const first = sendHeld("10.0.0.1", ownMax + 20);
  await eventually(() => expect(counts.held).toBe(ownMax));
  for (const response of await Promise.all(first.splice(ownMax))) expect(response).toEqual(overloaded);
  const others = ["10.0.0.2", "10.0.0.3"].flatMap((address) => sendHeld(address, ownMax));
  await eventually(() => expect(counts.held).toBe(inFlightMax));
  const last = inFlightMax - ownMax;
  for (const response of await Promise.all(others.splice(last))) expect(response).toEqual(overloaded);
  expect((await send("/health")).status).toBe(200);
  service.release();
  for (const response of await Promise.all([...first, ...others]))
    expect(response).toEqual([200, undefined, "done"]);
  const more = sendHeld("10.0.0.1", ownMax);
  for (const [status] of await Promise.all(more)) expect(status).toBe(200);
});

test("two subjects of tokens are two callers, also at one address; one subject is one caller at any", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let held = 0;
  const handlers = {
    async hold() {
      held += 1;
      await released;
      return { status: 200, type: "text/plain", body: "done" };
    },
  };
  const schemes = { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } };
  const paths = { "/held": { get: operation("hold", text, { security: [{ bearer: [] }] }) } };
  const authenticate: Authenticate = async ({ headers }) => ({
    ...{ claims: { sub: headers.authorization }, scopes: new Set(), token: "" },
  });
  const security = () => authenticate;
  await using service = await serve(contractOf(paths, schemes), handlers, { security });
  const send = async (authorization: string, remoteAddress: string) => {
    const options = { url: "/held", headers: { authorization }, remoteAddress };
    return (await service.app.inject(options)).statusCode;
  };
  const ofOne = Array.from({ length: ownMax }, (_, index) => send("one", `10.0.0.${index % 5}`));
  await eventually(() => expect(held).toBe(ownMax));
  expect(await send("one", "10.0.0.9")).toBe(503);
  const other = send("other", "10.0.0.1");
  await eventually(() => expect(held).toBe(ownMax + 1));
  release();
  expect(new Set(await Promise.all([...ofOne, other]))).toEqual(new Set([200]));
});

test("a connection has up to 100 requests that wait for the one before them, again and again", async () => {
  await using service = await startService();
  const accepted = once(service.app.server, "connection");
  const socket = connect(Number(new URL(service.base).port), "127.0.0.1").on("error", () => {});
  const [atService] = (await accepted) as [Socket];
  let received = "";
  socket.on("data", (chunk) => (received += chunk));
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;
  let sent = 0;
  /** Resolves when the service has read the requests. */
  async function send(text: string) {
    sent += text.length;
    socket.write(text);
    while (atService.bytesRead < sent) await afterThisTurn();
    await afterThisTurn();
  }
  for (let round = 1; round <= 3; round += 1) {
    await send(get("/health").repeat(90));
    await eventually(() => expect(received.split("HTTP/1.1 200 ")).toHaveLength(90 * round + 1));
  }
  await send(get("/held") + get("/health").repeat(100));
  expect(atService.destroyed).toBe(false);
  await send(get("/health"));
  expect(atService.destroyed).toBe(true);
  service.release();
});
