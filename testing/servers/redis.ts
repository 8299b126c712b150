import { retry } from "../../src/process/retry.ts";
import { allSettled } from "../all-settled.ts";
import { disposing } from "../disposing.ts";
import { freePort } from "../free-port.ts";
import { testWaitMaxMs } from "../test-wait-max.ts";
import type { Installable } from "./install.ts";
import { exchangeBytes, findProgram, startServer, type TestServer } from "./server.ts";

const program = () => findProgram("redis-server");

export const isRedisInstalled = () => program() !== undefined;

export const redis: Installable = {
  name: "Redis",
  aptPackages: ["redis-server"],
  isInstalled: isRedisInstalled,
};

/**
 * Starts a Redis that logs writes to a file before it responds, so that a kill loses none. With `everysec` it responds
 * earlier while the disk is slow.
 */
export const startRedis = (...options: string[]): Promise<TestServer> =>
  startServer({
    name: "redis",
    url: ({ port }) => `redis://127.0.0.1:${port}`,
    command: ({ folder, port }) => [
      program() ?? "redis-server",
      ...["--bind", "127.0.0.1", "--port", String(port), "--dir", folder],
      ...["--appendonly", "yes", "--appendfsync", "always", "--save", "", ...options],
    ],
    stopSignal: "SIGTERM",
    probeRequest: "PING\r\n",
    probeResponse: "+PONG\r\n",
  });

const slots = 16384;

export type TestCluster = Awaited<ReturnType<typeof startRedisCluster>>;

/** Starts a Redis Cluster of three masters. Two continue to serve their keys when the third fails. */
export async function startRedisCluster(...options: string[]) {
  await using opening = new AsyncDisposableStack();
  const clusterPorts = await Promise.all(["", "", ""].map(freePort));
  const starts = clusterPorts.map(async (clusterPort) => {
    const ports = ["--cluster-port", String(clusterPort), "--cluster-enabled", "yes"];
    const failover = ["--cluster-node-timeout", "1000", "--cluster-require-full-coverage", "no"];
    return opening.use(await startRedis(...ports, ...failover, ...options));
  });
  const nodes = await allSettled(starts);
  for (const [index, { url }] of nodes.entries()) {
    const [from = 0, end = 0] = [index, index + 1].map((part) => Math.floor((slots * part) / nodes.length));
    await exchangeBytes(url, `CLUSTER ADDSLOTSRANGE ${from} ${end - 1}\r\n`, "+OK");
    const { port } = new URL(nodes[0]?.url ?? "");
    await exchangeBytes(url, `CLUSTER MEET 127.0.0.1 ${port} ${clusterPorts[0]}\r\n`, "+OK");
  }
  for (const { url } of nodes)
    await retry(() => requireWholeCluster(url, nodes.length), { forMs: testWaitMaxMs });
  const url = `redis+cluster://${nodes.map(({ url }) => new URL(url).host).join()}`;
  return disposing(opening, { url, nodes });
}

/** Rejects unless a node sees all masters, and that all slots are assigned. */
async function requireWholeCluster(url: string, count: number): Promise<void> {
  const info = await exchangeBytes(url, "CLUSTER INFO\r\n", "cluster_my_epoch");
  for (const line of ["cluster_state:ok", `cluster_slots_ok:${slots}`, `cluster_size:${count}`])
    if (!info.includes(`${line}\r\n`)) throw new Error(`a node of Redis sees another cluster: ${info}`);
}
