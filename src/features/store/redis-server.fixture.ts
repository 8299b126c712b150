import { findProgram, startServer, type TestServer } from "../../service/test-server.fixture.ts";

const program = () => findProgram("redis-server");

export const isRedisInstalled = () => program() !== undefined;

/** Starts a Redis that keeps what it has answered for, even when it is killed. */
export const startRedis = (): Promise<TestServer> =>
  startServer({
    name: "redis",
    url: ({ port }) => `redis://127.0.0.1:${port}`,
    command: ({ folder, port }) => [
      program() ?? "redis-server",
      ...["--bind", "127.0.0.1", "--port", String(port), "--dir", folder],
      ...["--appendonly", "yes", "--save", ""],
    ],
    stopSignal: "SIGTERM",
    hello: "PING\r\n",
    welcome: "+PONG\r\n",
  });
