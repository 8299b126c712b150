import { retry } from "../../src/waiting/retry.ts";
import { allSettled } from "../all-settled.ts";
import { disposing } from "../disposing.ts";
import { freePort } from "../free-port.ts";
import { testWaitMaxMs } from "../test-wait-max.ts";
import type { Installable } from "./install.ts";
import { laterPackage, laterProgram } from "./later-debian.ts";
import { exchangeBytes, findProgram, startServer, type TestServer } from "./server.ts";

/** Debian 12 has no Valkey. */
const valkeyProgram = () => laterProgram("usr/bin/valkey-server");
export const valkey = laterPackage("Valkey", "valkey-server", () => valkeyProgram() !== undefined);

/** The command of Redis, or of Valkey if TEST_REDIS is `valkey`. */
function program(): [string, ...string[]] | undefined {
  if (process.env.TEST_REDIS === "valkey") return valkeyProgram();
  const found = findProgram("redis-server");
  return found === undefined ? undefined : [found];
}

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
      ...(program() ?? ["redis-server"]),
      ...["--bind", "127.0.0.1", "--port", String(port), "--dir", folder],
      ...["--appendonly", "yes", "--appendfsync", "always", "--save", "", ...options],
    ],
    stopSignal: "SIGTERM",
    probeRequest: "PING\r\n",
    probeResponse: "+PONG\r\n",
  });

const slots = 16384;

export type TestCluster = Awaited<ReturnType<typeof startRedisCluster>>;

/**
 * Starts a Redis Cluster of three masters, each with options of its own. Two continue to serve their keys when the third
 * fails.
 */
export async function startRedisCluster(optionsOf: (node: number) => string[] = () => []) {
  await using opening = new AsyncDisposableStack();
  const clusterPorts = await Promise.all(["", "", ""].map(freePort));
  const starts = clusterPorts.map(async (clusterPort, node) => {
    const ports = ["--cluster-port", String(clusterPort), "--cluster-enabled", "yes"];
    const failover = ["--cluster-node-timeout", "1000", "--cluster-require-full-coverage", "no"];
    return opening.use(await startRedis(...ports, ...failover, ...optionsOf(node)));
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
