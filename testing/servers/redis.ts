import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../free-port.ts";
import { patienceMs } from "../patience.ts";
import { converse, findProgram, startServer, type TestServer } from "./server.ts";

const program = () => findProgram("redis-server");

export const isRedisInstalled = () => program() !== undefined;

/** Starts a Redis that keeps what it has answered for, even when it is killed. */
export const startRedis = (...options: string[]): Promise<TestServer> =>
  startServer({
    name: "redis",
    url: ({ port }) => `redis://127.0.0.1:${port}`,
    command: ({ folder, port }) => [
      program() ?? "redis-server",
      ...["--bind", "127.0.0.1", "--port", String(port), "--dir", folder],
      ...["--appendonly", "yes", "--save", "", ...options],
    ],
    stopSignal: "SIGTERM",
    hello: "PING\r\n",
    welcome: "+PONG\r\n",
  });

/** Masters that share the keys, without replicas; each can be killed, paused and started. */
export interface TestCluster extends AsyncDisposable {
  url: string;
  nodes: TestServer[];
}

const slots = 16384;

/** Starts a Redis Cluster of three masters, which go on when one of them is away. */
export async function startRedisCluster(...options: string[]): Promise<TestCluster> {
  await using opening = new AsyncDisposableStack();
  const buses = await Promise.all(["", "", ""].map(freePort));
  const starts = buses.map(async (bus) => {
    const ports = ["--cluster-port", String(bus), "--cluster-enabled", "yes"];
    const patience = ["--cluster-node-timeout", "1000", "--cluster-require-full-coverage", "no"];
    return opening.use(await startRedis(...ports, ...patience, ...options));
  });
  const nodes = (await Promise.allSettled(starts)).map((start) => {
    if (start.status === "rejected") throw start.reason;
    return start.value;
  });
  for (const [index, { url }] of nodes.entries()) {
    const share = [index, index + 1].map((end) => Math.floor((slots * end) / nodes.length));
    const [from = 0, end = 0] = share;
    await converse(url, `CLUSTER ADDSLOTSRANGE ${from} ${end - 1}\r\n`, "+OK");
    const { port } = new URL(nodes[0]?.url ?? "");
    await converse(url, `CLUSTER MEET 127.0.0.1 ${port} ${buses[0]}\r\n`, "+OK");
  }
  const late = AbortSignal.timeout(patienceMs);
  for (const { url } of nodes) {
    while (!(await knowsAll(url, nodes.length))) {
      late.throwIfAborted();
      await sleep(50);
    }
  }
  const opened = opening.move();
  return {
    url: `redis+cluster://${nodes.map(({ url }) => new URL(url).host).join()}`,
    nodes,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Whether a node knows who has which slot, and that all are there. */
async function knowsAll(url: string, count: number): Promise<boolean> {
  const info = await converse(url, "CLUSTER INFO\r\n", "cluster_my_epoch");
  return ["cluster_state:ok", `cluster_slots_ok:${slots}`, `cluster_size:${count}`].every((fact) =>
    info.includes(`${fact}\r\n`),
  );
}
