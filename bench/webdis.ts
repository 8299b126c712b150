import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findProgram, startServer } from "../testing/servers/server.ts";
import { onMeasuredCore } from "./programs.ts";

/** Starts a Webdis on the measured core, before the Redis at this URL. */
export function startWebdis(redis: URL) {
  const configuration = ({ folder }: { folder: string }) => join(folder, "webdis.json");
  return startServer({
    name: "webdis",
    url: ({ port }) => `http://127.0.0.1:${port}`,
    async prepare(place) {
      const settings = {
        redis_host: redis.hostname,
        redis_port: Number(redis.port),
        http_host: "127.0.0.1",
        http_port: place.port,
        // As many as it has cores, and the number of connections with which it was fastest.
        threads: 1,
        pool_size: 4,
        daemonize: false,
        database: 0,
        verbosity: 0,
        logfile: "/dev/null",
      };
      await writeFile(configuration(place), JSON.stringify(settings));
    },
    command: (place) => onMeasuredCore([findProgram("webdis") ?? "webdis", configuration(place)]),
    stopSignal: "SIGTERM",
    hello: "GET /PING HTTP/1.1\r\nHost: webdis\r\n\r\n",
    welcome: "PONG",
  });
}
