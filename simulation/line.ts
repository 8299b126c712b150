import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A line to a server that can be cut while both ends go on. */
export interface Line extends AsyncDisposable {
  /** The server's URL, by this line. */
  url: string;
  /** Breaks every connection; new ones can be made at once. */
  cut(): void;
}

export async function openLine(serverUrl: string): Promise<Line> {
  const server = new URL(serverUrl);
  const ends = new Set<Socket>();
  const listener = createServer((near) => {
    const far = connect({ host: server.hostname, port: Number(server.port) });
    for (const [end, other] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(end);
      end.setNoDelay().pipe(other);
      end.on("error", () => {});
      end.on("close", () => {
        ends.delete(end);
        other.destroy();
      });
    }
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const cut = () => {
    for (const end of ends) end.resetAndDestroy();
  };
  const url = new URL(serverUrl);
  url.port = String((listener.address() as AddressInfo).port);
  return {
    url: url.href,
    cut,
    async [Symbol.asyncDispose]() {
      cut();
      await listener[Symbol.asyncDispose]();
    },
  };
}
