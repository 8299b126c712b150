import { createServer, type RequestListener } from "node:http";

/** Serves requests at `PORT`. Connections stay open as long as those of the services. */
export function serve(listener: RequestListener): void {
  const options = { keepAliveTimeout: 72_000, optimizeEmptyRequests: true };
  createServer(options, listener).listen(Number(process.env.PORT), "127.0.0.1");
}
