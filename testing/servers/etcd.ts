import { freePort } from "../free-port.ts";
import { findProgram, startServer, type TestServer } from "./server.ts";

const program = () => findProgram("etcd");

export const isEtcdInstalled = () => program() !== undefined;

/** Starts an etcd of one node. */
export async function startEtcd(): Promise<TestServer> {
  const peers = `http://127.0.0.1:${await freePort()}`;
  return startServer({
    name: "etcd",
    url: ({ port }) => `http://127.0.0.1:${port}`,
    command: ({ folder, port }) => {
      const clients = `http://127.0.0.1:${port}`;
      return [
        program() ?? "etcd",
        ...["--data-dir", `${folder}/data`, "--initial-cluster", `default=${peers}`],
        ...["--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers],
        ...["--listen-client-urls", clients, "--advertise-client-urls", clients],
      ];
    },
    stopSignal: "SIGTERM",
    probeRequest: "GET /health HTTP/1.0\r\n\r\n",
    probeResponse: '"health":"true"',
  });
}
