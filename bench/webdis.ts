import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findProgram, startServer } from "../testing/servers/server.ts";
import { onMeasuredCore } from "./programs.ts";

/** Starts Webdis on the measured core, as an HTTP server for the Redis at this URL. */
export function startWebdis(redis: URL) {
  const configuration = ({ folder }: { folder: string }) => join(folder, "webdis.json");
  return startServer({
    name: "webdis",
    url: ({ port }) => `http://127.0.0.1:${port}`,
    async prepare(instance) {
      const settings = {
        redis_host: redis.hostname,
        redis_port: Number(redis.port),
        http_host: "127.0.0.1",
        http_port: instance.port,
        // One thread, because it has one core. It was fastest with 4 connections.
        threads: 1,
        pool_size: 4,
        daemonize: false,
        database: 0,
        verbosity: 0,
        logfile: "/dev/null",
      };
      await writeFile(configuration(instance), JSON.stringify(settings));
    },
    command: (instance) => onMeasuredCore([findProgram("webdis") ?? "webdis", configuration(instance)]),
    stopSignal: "SIGTERM",
    probeRequest: "GET /PING HTTP/1.1\r\nHost: webdis\r\n\r\n",
    probeResponse: "PONG",
  });
}
