import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { request } from "undici";
import { describe, expect, test } from "vitest";
import { run } from "../../testing/run.ts";
import { testWaitMaxMs } from "../../testing/test-wait-max.ts";
import { openLog } from "../process/log.ts";
import type { Handlers } from "./handlers.ts";
import { createService } from "./service.ts";

/** Starts one service in its own process. */
async function start(service: "features" | "ledger") {
  const env = { FEATURES_PORT: "0", LEDGER_PORT: "0", DATABASE_URL: "pglite:memory", QUEUE_URL: "memory:" };
  const { child, exit, waitForOutput, output } = run("src/main.ts", { args: [service], env });
  await waitForOutput("listening");
  const [base = ""] = /http:\/\/[\d.:]+/.exec(output()) ?? [];
  return {
    base,
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exit;
    },
  };
}

async function connectAndSend(base: string, bytes: string): Promise<Socket> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname).on("error", () => {});
  await once(socket, "connect");
  socket.write(bytes);
  return socket;
}

const head = (line: string, ...lines: string[]) => [`${line} HTTP/1.1`, "host: a", ...lines, ""].join("\r\n");
const json = "content-type: application/json";

async function statusOf(url: string): Promise<number> {
  const { statusCode, body } = await request(url);
  await body.dump();
  return statusCode;
}

/** Sends requests until the signal aborts. Resolves with the mean duration in milliseconds. */
async function meanDurationMs(url: string, stop: AbortSignal): Promise<number> {
  const durations: number[] = [];
  while (!stop.aborted) {
    const start = performance.now();
    expect(await statusOf(url)).toBe(200);
    durations.push(performance.now() - start);
    await sleep(50);
  }
  return durations.reduce((sum, duration) => sum + duration, 0) / durations.length;
}

/** A service with one operation, at `/`. Default: it logs nothing. */
function serviceOf(get: () => Promise<object>, log?: { write(line: string): void }) {
  const operation = { operationId: "get", responses: { 200: { description: "a response" } } };
  return createService<{ get: unknown }>({
    contract: {
      openapi: "3.1.0",
      info: { title: "One", version: "1.0.0" },
      paths: { "/": { get: operation } },
    },
    handlers: { get } as unknown as Handlers<{ get: unknown }>,
    renderError: (_, messages) => ({ type: "text/plain", body: messages.join("; ") }),
    log: log ? openLog("info", log) : openLog("silent"),
  });
}

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
    await using service = await start("features");
    const line = `${head("GET /features/customer/42")}\r\n`;
    const socket = await connectAndSend(service.base, line.repeat(80));
    let text = "";
    socket.on("data", (chunk) => (text += chunk));
    await expect.poll(() => text.split("HTTP/1.1 200").length, { timeout: testWaitMaxMs }).toBe(81);
    // More than fit into one read, so that most of them wait.
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.write(line.repeat(20_000));
    await closed;
    expect(await statusOf(`${service.base}/features/customer/42`)).toBe(200);
  });

  test("clients that do not read are disconnected beyond 64 MiB, and those that read are not", async () => {
    const logged: string[] = [];
    const large = "x".repeat(8 * 2 ** 20);
    await using app = await serviceOf(async () => ({ status: 200, type: "text/plain", body: large }), {
      write: (line: string) => logged.push(line),
    });
    const base = await app.listen({ port: 0, host: "127.0.0.1" });
    // The system takes some megabytes of each response.
    using _deaf = await openDeafClients(base, 20, `${head("GET /")}\r\n`);
    const { body } = await request(base);
    let read = 0;
    for await (const chunk of body) {
      read += chunk.length;
      // A slow client, which takes several seconds.
      await sleep(10);
    }
    expect(read).toBe(large.length);
    await expect.poll(() => logged.join(""), { timeout: testWaitMaxMs }).toContain("read too slowly");
    const connections = promisify(app.server.getConnections.bind(app.server));
    expect(await connections()).toBeLessThan(20);
    expect(await statusOf(base)).toBe(200);
  });

  test("bodies that are never complete are dropped beyond 32 MiB, the stalest first", async () => {
    await using service = await start("features");
    const begin = `${head("POST /query", json, "content-length: 1000000")}\r\n`;
    using deaf = await openDeafClients(service.base, 60, begin + " ".repeat(999_000));
    const body = JSON.stringify({ resources: [{ resource: "customer", id: "42" }], features: ["a"] });
    const headers = { "content-type": "application/json" };
    await expect.poll(deaf.closed, { timeout: testWaitMaxMs }).toBeGreaterThan(20);
    expect(deaf.closed()).toBeLessThan(40);
    const { statusCode } = await request(`${service.base}/query`, { method: "POST", headers, body });
    expect(statusCode).toBe(200);
  });
});

/** Longer than the 40 seconds after which a stalled connection is closed. */
const longMs = 48_000;

describe.concurrent("time limits:", () => {
  test("a request that does not arrive within 30 seconds gets 408, and 500 of them do not delay others", async () => {
    await using service = await start("features");
    const kinds: [start: string, repeated: string][] = [
      ["", ""],
      [head("GET /metrics"), ""],
      [head("GET /metrics"), "x: y\r\n"],
      [`${head("POST /query", json, "content-length: 1000")}\r\n`, ""],
      [`${head("POST /query", json, "content-length: 1000")}\r\n`, " "],
      [`${head("POST /query", json, "transfer-encoding: chunked")}\r\n`, "1\r\n \r\n"],
      [`${head("GET /features/customer/42", "content-length: 1000")}\r\n`, " "],
    ];
    const aloneMs = await meanDurationMs(`${service.base}/features/customer/42`, AbortSignal.timeout(2000));
    const done = new AbortController();
    const othersMeanMs = meanDurationMs(`${service.base}/features/customer/42`, done.signal);
    const responses = await Promise.all(
      Array.from({ length: 500 }, async (_, index) => {
        const [firstBytes, repeated] = kinds[index % kinds.length] as [string, string];
        const socket = await connectAndSend(service.base, firstBytes);
        const start = performance.now();
        const writes = setInterval(() => socket.write(repeated), 1000);
        let text = "";
        socket.on("data", (chunk) => (text += chunk));
        await new Promise((resolve) => socket.on("close", resolve));
        clearInterval(writes);
        return { text, seconds: (performance.now() - start) / 1000 };
      }),
    );
    done.abort();
    for (const { text, seconds } of responses) {
      expect(text).toMatch(/HTTP\/1.1 408 .*\r\n\r\nthe request did not arrive in time\n$/s);
      expect(seconds).toBeGreaterThan(29);
      expect(seconds).toBeLessThan(60);
    }
    expect(await othersMeanMs).toBeLessThan(100 + 10 * aloneMs);
  });

  test("a connection whose client reads nothing of a response for 40 seconds is closed", async () => {
    await using service = await start("features");
    const feature = "x".repeat(256);
    for (let page = 0; page < 20; page++) {
      const changes = Array.from({ length: 1000 }, (_, index) => {
        return { type: "add", resource: "r".repeat(256), id: `${page}-${index}`.padEnd(256), feature };
      });
      const { statusCode, body } = await request(`${service.base}/changes`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ changes }),
      });
      await body.dump();
      expect(statusCode).toBe(200);
    }
    const stream = `${head("GET /changes", "accept: text/event-stream")}\r\n`;
    const [stalled, slow] = [
      await connectAndSend(service.base, stream),
      await connectAndSend(service.base, stream),
    ];
    const reads = setInterval(() => slow.read(), 1000);
    await sleep(longMs);
    clearInterval(reads);
    // Data that is in transit arrives before the end of the connection.
    const isClosed = (socket: Socket) => {
      const closed = new Promise<boolean>((resolve) => socket.resume().on("close", () => resolve(true)));
      return (maxMs: number) => Promise.race([closed, sleep(maxMs, false)]);
    };
    const [isStalledClosed, isSlowClosed] = [isClosed(stalled), isClosed(slow)];
    expect([await isStalledClosed(testWaitMaxMs), await isSlowClosed(5000)]).toEqual([true, false]);
    slow.destroy();
  });

  test("a change stream without changes stays open", async () => {
    await using service = await start("features");
    const reader = await connectAndSend(
      service.base,
      `${head("GET /changes", "accept: text/event-stream")}\r\n`,
    );
    let text = "";
    reader.on("data", (chunk) => (text += chunk));
    await sleep(longMs);
    expect(reader.readyState).toBe("open");
    expect(text.match(/:\n\n/g)?.length).toBeGreaterThanOrEqual(3);
    reader.destroy();
  });

  test("a handler has no time limit", async () => {
    await using app = await serviceOf(async () => {
      await sleep(longMs);
      return { status: 200 };
    });
    expect(await statusOf(await app.listen({ port: 0, host: "127.0.0.1" }))).toBe(200);
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

describe.runIf(process.platform === "linux")(`${connectionCount} idle connections`, () => {
  test.each(["features", "ledger"] as const)("do not delay requests to the %s service", async (name) => {
    await using service = await start(name);
    const { base, pid } = service;
    const path = name === "ledger" ? "/v1/transaction/?account_id=57" : "/features/customer/42";
    const statusAt = (path: string) => statusOf(base + path);
    expect([await statusAt("/metrics"), await statusAt(path)]).toEqual([200, 200]);
    const [files, megabytes] = [filesOf(pid), megabytesOf(pid)];
    const durationOf20 = async (path: string) => {
      const start = performance.now();
      for (let count = 0; count < 20; count++) expect(await statusAt(path)).toBe(200);
      return performance.now() - start;
    };
    const aloneMs = Math.max(await durationOf20("/metrics"), await durationOf20(path));
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
    for (const measured of ["/metrics", path])
      expect(await durationOf20(measured)).toBeLessThan(5000 + 10 * aloneMs);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => filesOf(pid)).toBeLessThan(files + 10);
  });
});
