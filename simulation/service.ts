import { join } from "node:path";
import { root } from "../testing/project.ts";
import { startServer, type TestServer } from "../testing/servers/server.ts";

/** Starts one of the services as an operator does, in a process and a folder of its own; in the folder is its log. */
export const startService = (
  service: "ledger" | "features",
  settings: Record<string, string>,
): Promise<TestServer> =>
  startServer({
    name: service,
    url: ({ port }) => `http://127.0.0.1:${port}`,
    command: () => [process.execPath, join(root, "src/main.ts"), service],
    environment: ({ port }) => ({ [`${service.toUpperCase()}_PORT`]: String(port), ...settings }),
    stopSignal: "SIGTERM",
    hello: "GET /none HTTP/1.1\r\nHost: simulation\r\n\r\n",
    welcome: "HTTP/1.1 404",
  });
