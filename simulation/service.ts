import { join } from "node:path";
import { root } from "../testing/project.ts";
import { startServer, type TestServer } from "../testing/servers/server.ts";

/** Starts a service as an operator does, in its own process and its own folder, which also has its log. */
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
    probeRequest: "GET /none HTTP/1.1\r\nHost: simulation\r\n\r\n",
    probeResponse: "HTTP/1.1 404",
  });
