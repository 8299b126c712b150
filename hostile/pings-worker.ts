import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { Client } from "undici";
import { ofAnother } from "./client.ts";
import { stolenBetween, stolenMs } from "./machine.ts";
import type { Ping, PingResult } from "./pings.ts";

const { url, pings } = workerData as { url: string; pings: Ping[] };
const pauseMs = 5;
/** A response that takes longer is a failure. */
const responseMaxMs = 30_000;

const result: PingResult = { longestMs: 0, longest: "", failures: [], count: 0 };
let isStopped = false;

async function send(client: Client, { method = "GET", path, body, status }: Ping): Promise<void> {
  const name = `${method} ${path}`;
  const sentAt = performance.now();
  const stolenBefore = stolenMs();
  try {
    const headers = { ...ofAnother, ...(body !== undefined && { "content-type": "application/json" }) };
    const response = await client.request({ method: method as "GET", path, body: body ?? null, headers });
    const text = await response.body.text();
    if (response.statusCode !== status) {
      result.failures.push(`${name}: ${response.statusCode} ${text.slice(0, 200)}`);
    }
  } catch (error) {
    result.failures.push(`${name}: ${(error as Error).message}`);
  }
  result.count += 1;
  const tookMs = performance.now() - sentAt - stolenBetween(stolenBefore, stolenMs());
  if (tookMs > result.longestMs) Object.assign(result, { longestMs: tookMs, longest: name });
}

async function repeat(ping: Ping): Promise<void> {
  const client = new Client(url, { headersTimeout: responseMaxMs, bodyTimeout: responseMaxMs });
  // The first request compiles and connects.
  await send(client, ping);
  await send(client, ping);
  Object.assign(result, { longestMs: 0, longest: "" });
  parentPort?.postMessage(["started"]);
  while (!isStopped) {
    await send(client, ping);
    await sleep(pauseMs);
  }
  await client.close();
}

parentPort?.once("message", () => {
  isStopped = true;
});
await Promise.all(pings.map(repeat));
parentPort?.postMessage(["result", result]);
