import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate as afterThisTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { request } from "undici";
import { describe, expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { startService } from "../../../testing/services.ts";
import { startFeatures } from "../../features/tests/features.fixture.ts";
import { openLog } from "../../process/log.ts";
import { contractOf, operation, serve, statusOf } from "../service.fixture.ts";

async function connectAndSend(base: string, bytes: string): Promise<Socket> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname).on("error", () => {});
  await once(socket, "connect");
  socket.write(bytes);
  return socket;
}

const head = (line: string, ...lines: string[]) =>
  [`${line} HTTP/1.1`, "host: localhost", ...lines, ""].join("\r\n");
const json = "content-type: application/json";

/** Starts a service with one operation, at `/`. Default: it logs nothing. */
const serviceOf = (get: () => Promise<object>, log = openLog("silent")) =>
  serve(contractOf({ "/": { get: operation("get") } }), { get }, { log });

/** Connections that send these bytes and read nothing. Counts those that the service has closed. */
async function openDeafClients(base: string, count: number, bytes: string) {
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index += 1) sockets.push(await connectAndSend(base, bytes));
  return {
    closed: () => sockets.filter(({ destroyed }) => destroyed).length,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

describe("one client cannot take what others need:", () => {
  test("requests of one connection are in flight one after another, and too many close it", async () => {
    let inFlight = 0;
    await using service = await serviceOf(async () => {
      inFlight += 1;
      expect(inFlight).toBe(1);
      await afterThisTurn();
      inFlight -= 1;
      return { status: 200 };
    });
    const { base } = service;
    const line = `${head("GET /")}\r\n`;
    const socket = await connectAndSend(base, line.repeat(80));
    let text = "";
    socket.on("data", (chunk) => (text += chunk));
    await eventually(() => expect(text.split("HTTP/1.1 200")).toHaveLength(81));
    // More than fit into one read, so that most of them wait.
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.write(line.repeat(20_000));
    await closed;
    expect(await statusOf(base)).toBe(200);
  });

  test("clients that do not read are disconnected beyond 64 MiB, and those that read are not", async () => {
    const logged: string[] = [];
    const large = "x".repeat(16 * 2 ** 20);
    const log = openLog("info", { write: (line) => logged.push(line) });
    const ofLarge = async () => ({ status: 200, type: "text/plain", body: large });
    await using service = await serviceOf(ofLarge, log);
    const { app, base } = service;
    // The system takes up to six megabytes of each response. All together are less than twice the limit, beyond which
    // also those would be disconnected that make progress.
    using _deaf = await openDeafClients(base, 6, `${head("GET /")}\r\n`);
    const { body } = await request(base);
    expect((await body.arrayBuffer()).byteLength).toBe(large.length);
    await eventually(() => expect(logged.join("")).toContain("read too slowly"));
    const connections = promisify(app.server.getConnections.bind(app.server));
    await eventually(async () => expect(await connections()).toBeLessThan(6));
    expect(await statusOf(base)).toBe(200);
  });

  test("bodies that are never complete are dropped beyond 32 MiB, the stalest first", async () => {
    await using service = await startFeatures();
    const begin = `${head("POST /query", json, "content-length: 1000000")}\r\n`;
    using deaf = await openDeafClients(service.base, 60, begin + " ".repeat(999_000));
    await eventually(() => expect(deaf.closed()).toBeGreaterThan(20));
    expect(deaf.closed()).toBeLessThan(40);
    const body = { resources: [{ resource: "customer", id: "42" }], features: ["a"] };
    expect(await service.request("POST", "/query", { body })).toMatchObject({ status: 200 });
  });

  test("500 requests that never arrive get 408 after their limit; handlers and responses have none", async () => {
    const entered = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    async function* pieces() {
      yield "first\n";
      await released.promise;
      yield "last\n";
    }
    await using service = await serviceOf(async () => {
      entered.resolve();
      await released.promise;
      return { status: 200, type: "text/csv", body: pieces() };
    });
    const { base } = service;
    const slow = statusOf(base);
    await entered.promise;
    const kinds = [
      "",
      head("GET /"),
      `${head("GET /", "x: y")}`,
      `${head("POST /", json, "content-length: 1000")}\r\n `,
      `${head("POST /", json, "transfer-encoding: chunked")}\r\n1\r\n \r\n`,
      `${head("GET /nowhere", "content-length: 1000")}\r\n `,
    ];
    const late = Array.from({ length: 500 }, async (_, index) =>
      text(await connectAndSend(base, kinds[index % kinds.length] as string)),
    );
    await Promise.all(
      late.map((_, index) => index < 20 && expect(statusOf(`${base}/nowhere`)).resolves.toBe(404)),
    );
    const { server } = service.app;
    expect([server.requestTimeout, server.headersTimeout, server.timeout]).toEqual([30_000, 30_000, 0]);
    // The limit is read at each check, once a second.
    server.headersTimeout = server.requestTimeout = 1;
    for (const response of await Promise.all(late)) {
      expect(response).toMatch(/HTTP\/1.1 408 .*\r\n\r\nthe request did not arrive in time\n?$/s);
    }
    released.resolve();
    expect(await slow).toBe(200);
  });
});

/** The number of open files of a process, and its memory. */
const filesOf = (pid: number | undefined) => readdirSync(`/proc/${pid}/fd`).length;
const megabytesOf = (pid: number | undefined) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

/** 5000, or half of the files that a process may have open. */
const { open_files } = (process.report.getReport() as { userLimits: Record<string, { soft: string }> })
  .userLimits;
const connectionCount = Math.min(5000, Math.floor(Number(open_files?.soft) / 2) || 5000);

test.runIf(process.platform === "linux")(
  `${connectionCount} idle connections leave a service as it was, and take little memory`,
  async () => {
    await using service = await startService("features", { env: { FEATURES_STORE_URL: "memory:" } });
    const { url: base } = service;
    const { pid } = service.child();
    const statuses = async () => [await statusOf(`${base}/metrics`), await statusOf(`${base}/features/a/b`)];
    expect(await statuses()).toEqual([200, 200]);
    const [files, megabytes] = [filesOf(pid), megabytesOf(pid)];
    const sockets: Socket[] = [];
    while (sockets.length < connectionCount) {
      const batch = Array.from({ length: 250 }, async () => {
        const socket = await connectAndSend(base, `${head("GET /nowhere")}\r\n`);
        await once(socket.resume(), "data");
        return socket;
      });
      sockets.push(...(await Promise.all(batch)));
    }
    expect(filesOf(pid)).toBeGreaterThanOrEqual(connectionCount);
    expect((megabytesOf(pid) - megabytes) / connectionCount).toBeLessThan(0.05);
    expect(await statuses()).toEqual([200, 200]);
    for (const socket of sockets) socket.destroy();
    await eventually(() => expect(filesOf(pid)).toBeLessThan(files + 10));
  },
);
