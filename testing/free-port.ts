import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type ListenOptions, type Server } from "node:net";

const host = "127.0.0.1";

/**
 * A free port on loopback. On Linux no other call on this machine returns it until this process ends: it is below the
 * range from which the system assigns ports, and it is locked by an abstract socket, which the system closes when this
 * process ends.
 */
export async function freePort(): Promise<number> {
  if (process.platform !== "linux") return portOf({ host, port: 0 });
  for (;;) {
    const port = randomInt(20_000, 30_000);
    const lock = createServer();
    if (!(await listens(lock, { path: `\0test-port-${port}` }))) continue;
    lock.unref();
    if ((await portOf({ host, port })) === port) return port;
    lock.close();
  }
}

/** The port at which a server could listen, or 0. */
async function portOf(address: ListenOptions): Promise<number> {
  const probe = createServer();
  if (!(await listens(probe, address))) return 0;
  const { port } = probe.address() as { port: number };
  probe.close();
  return port;
}

const listens = (server: Server, address: ListenOptions): Promise<boolean> =>
  once(server.listen(address), "listening").then(
    () => true,
    () => false,
  );
