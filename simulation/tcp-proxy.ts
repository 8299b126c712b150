import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Opens a TCP proxy for a server on loopback. It can break connections and drop packets while client and server run. */
export async function openTcpProxy(serverUrl: string) {
  const server = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let dropsPackets = false;
  const listener = createServer((client) => {
    register(client);
    if (dropsPackets) return;
    const upstream = connect({ host: server.hostname, port: Number(server.port) });
    register(upstream);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.setNoDelay().pipe(to);
      from.on("close", () => to.destroy());
    }
  });
  function register(socket: Socket): void {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  }
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  /** Resets every connection. New connections work immediately. */
  const resetConnections = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const url = new URL(serverUrl);
  url.port = String((listener.address() as AddressInfo).port);
  return {
    /** The server's URL with the port of the proxy. */
    url: url.href,
    resetConnections,
    /**
     * Drops every packet in both directions and closes nothing, as a network partition does. New connections are accepted
     * and get no response. After `restore` only connections made from then on work; the others stay silent.
     */
    dropPackets() {
      dropsPackets = true;
      // A paused socket does not report that its peer has closed the connection.
      for (const socket of sockets) socket.unpipe().pause();
    },
    restore() {
      dropsPackets = false;
    },
    async [Symbol.asyncDispose]() {
      resetConnections();
      await listener[Symbol.asyncDispose]();
    },
  };
}
