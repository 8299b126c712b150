import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { describe, expect, test } from "vitest";
import { patienceMs } from "../../testing/patience.ts";
import { run } from "../../testing/run.ts";
import { openLog } from "../process/log.ts";
import type { Handlers } from "./handlers.ts";
import { createService } from "./service.ts";

/** A process of one service, as it is run. */
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

async function open(base: string, bytes: string): Promise<Socket> {
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

/** Asks until told to stop; resolves with how long an answer took on average, in milliseconds. */
async function meanAnswer(url: string, stop: AbortSignal): Promise<number> {
  const durations: number[] = [];
  while (!stop.aborted) {
    const begun = performance.now();
    expect(await statusOf(url)).toBe(200);
    durations.push(performance.now() - begun);
    await sleep(50);
  }
  return durations.reduce((sum, one) => sum + one, 0) / durations.length;
}

/** Longer than anything is waited for. */
const longMs = 48_000;

describe.concurrent("who takes too long", () => {
  test("to send a request is told so after 30 seconds, and 500 of them hold up nobody", async () => {
    await using service = await start("features");
    const kinds: [sent: string, more: string][] = [
      ["", ""],
      [head("GET /metrics"), ""],
      [head("GET /metrics"), "x: y\r\n"],
      [`${head("POST /query", json, "content-length: 1000")}\r\n`, ""],
      [`${head("POST /query", json, "content-length: 1000")}\r\n`, " "],
      [`${head("POST /query", json, "transfer-encoding: chunked")}\r\n`, "1\r\n \r\n"],
      [`${head("GET /features/customer/42", "content-length: 1000")}\r\n`, " "],
    ];
    const aloneMs = await meanAnswer(`${service.base}/features/customer/42`, AbortSignal.timeout(2000));
    const done = new AbortController();
    const others = meanAnswer(`${service.base}/features/customer/42`, done.signal);
    const heard = await Promise.all(
      Array.from({ length: 500 }, async (_, index) => {
        const [sent, more] = kinds[index % kinds.length] as [string, string];
        const socket = await open(service.base, sent);
        const begun = performance.now();
        const drip = setInterval(() => socket.write(more), 1000);
        let text = "";
        socket.on("data", (chunk) => (text += chunk));
        await new Promise((resolve) => socket.on("close", resolve));
        clearInterval(drip);
        return { text, seconds: (performance.now() - begun) / 1000 };
      }),
    );
    done.abort();
    for (const { text, seconds } of heard) {
      expect(text).toMatch(/HTTP\/1.1 408 .*\r\n\r\nthe request did not arrive in time\n$/s);
      expect(seconds).toBeGreaterThan(29);
      expect(seconds).toBeLessThan(60);
    }
    expect(await others).toBeLessThan(100 + 10 * aloneMs);
  });

  test("to read a reply is dropped when 40 seconds have passed without a bit of it", async () => {
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
    const [stalled, slow] = [await open(service.base, stream), await open(service.base, stream)];
    const sips = setInterval(() => slow.read(), 1000);
    await sleep(longMs);
    clearInterval(sips);
    // What is on its way is still to be had, and then the end.
    const isOver = (socket: Socket) => {
      const closed = new Promise<boolean>((resolve) => socket.resume().on("close", () => resolve(true)));
      return (maxMs: number) => Promise.race([closed, sleep(maxMs, false)]);
    };
    const [isStalledOver, isSlowOver] = [isOver(stalled), isOver(slow)];
    expect([await isStalledOver(patienceMs), await isSlowOver(5000)]).toEqual([true, false]);
    slow.destroy();
  });

  test("to read a stream of changes is not, when there are none", async () => {
    await using service = await start("features");
    const reader = await open(service.base, `${head("GET /changes", "accept: text/event-stream")}\r\n`);
    let text = "";
    reader.on("data", (chunk) => (text += chunk));
    await sleep(longMs);
    expect(reader.readyState).toBe("open");
    expect(text.match(/:\n\n/g)?.length).toBeGreaterThanOrEqual(3);
    reader.destroy();
  });

  test("to make a reply is waited for", async () => {
    const operation = { operationId: "get", responses: { 200: { description: "a late answer" } } };
    await using app = await createService<{ get: unknown }>({
      contract: {
        openapi: "3.1.0",
        info: { title: "Slow", version: "1.0.0" },
        paths: { "/": { get: operation } },
      },
      handlers: {
        async get() {
          await sleep(longMs);
          return { status: 200 };
        },
      } as unknown as Handlers<{ get: unknown }>,
      renderError: (_, messages) => ({ type: "text/plain", body: messages.join("; ") }),
      log: openLog("silent"),
    });
    expect(await statusOf(await app.listen({ port: 0, host: "127.0.0.1" }))).toBe(200);
  });
});

/** What a process has of the system. */
const filesOf = (pid: number | undefined) => readdirSync(`/proc/${pid}/fd`).length;
const megabytesOf = (pid: number | undefined) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

/** As many as a process may have open files, and some are needed for other things. */
const { open_files } = (process.report.getReport() as { userLimits: Record<string, { soft: string }> })
  .userLimits;
const manyConnections = Math.min(5000, Math.floor(Number(open_files?.soft) / 2) || 5000);

describe.runIf(process.platform === "linux")(`${manyConnections} idle connections`, () => {
  test.each(["features", "ledger"] as const)("hold up nobody who asks the %s", async (name) => {
    await using service = await start(name);
    const { base, pid } = service;
    const ordinary = name === "ledger" ? "/v1/transaction/?account_id=57" : "/features/customer/42";
    const ask = (path: string) => statusOf(base + path);
    expect([await ask("/metrics"), await ask(ordinary)]).toEqual([200, 200]);
    const [files, megabytes] = [filesOf(pid), megabytesOf(pid)];
    const msOfMany = async (path: string) => {
      const begun = performance.now();
      for (let count = 0; count < 20; count++) expect(await ask(path)).toBe(200);
      return performance.now() - begun;
    };
    const aloneMs = Math.max(await msOfMany("/metrics"), await msOfMany(ordinary));
    const sockets: Socket[] = [];
    while (sockets.length < manyConnections) {
      const some = Array.from({ length: 250 }, async () => {
        const socket = await open(base, `${head("GET /nowhere")}\r\n`);
        await once(socket.resume(), "data");
        return socket;
      });
      sockets.push(...(await Promise.all(some)));
    }
    expect(filesOf(pid)).toBeGreaterThanOrEqual(manyConnections);
    expect((megabytesOf(pid) - megabytes) / manyConnections).toBeLessThan(0.05);
    for (const path of ["/metrics", ordinary]) expect(await msOfMany(path)).toBeLessThan(5000 + 10 * aloneMs);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => filesOf(pid)).toBeLessThan(files + 10);
  });
});
