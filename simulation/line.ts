import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A line to a server that can be cut, or fall silent, while both ends go on. */
export interface Line extends AsyncDisposable {
  /** The server's URL, by this line. */
  url: string;
  /** Breaks every connection; new ones can be made at once. */
  cut(): void;
  /**
   * Lets nothing through any more, in either direction, and closes nothing, as when every packet is lost. New connections
   * are silent, too, until `restore`; after it those that are made then work, and those from before stay silent for ever.
   */
  silence(): void;
  restore(): void;
}

export async function openLine(serverUrl: string): Promise<Line> {
  const server = new URL(serverUrl);
  const ends = new Set<Socket>();
  let isSilent = false;
  const listener = createServer((near) => {
    hold(near);
    if (isSilent) return;
    const far = connect({ host: server.hostname, port: Number(server.port) });
    hold(far);
    for (const [end, other] of [
      [near, far],
      [far, near],
    ] as const) {
      end.setNoDelay().pipe(other);
      end.on("close", () => other.destroy());
    }
  });
  function hold(end: Socket): void {
    ends.add(end);
    end.on("error", () => {});
    end.on("close", () => ends.delete(end));
  }
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
    silence() {
      isSilent = true;
      // Who does not read hears of no close either.
      for (const end of ends) end.unpipe().pause();
    },
    restore() {
      isSilent = false;
    },
    async [Symbol.asyncDispose]() {
      cut();
      await listener[Symbol.asyncDispose]();
    },
  };
}
