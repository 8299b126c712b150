import { createServer, type RequestListener, type ServerResponse } from "node:http";

/** Serves requests at `PORT`. Connections stay open as long as those of the services. */
export function serve(listener: RequestListener): void {
  const options = { keepAliveTimeout: 72_000, optimizeEmptyRequests: true };
  createServer(options, listener).listen(Number(process.env.PORT), "127.0.0.1");
}

export function respond(response: ServerResponse, json: string, headers = {}, status = 200): void {
  const length = Buffer.byteLength(json);
  const type = "application/json; charset=utf-8";
  response.writeHead(status, { ...headers, "content-type": type, "content-length": length }).end(json);
}
