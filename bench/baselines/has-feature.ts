import { createServer } from "node:http";

/** Responds to every request with the bytes of a response of the feature storage. It does not read the request. */
const body = '{"result":true}\n';
const headers = { "content-type": "application/json; charset=utf-8", "content-length": "16" };

const server = createServer(
  { keepAliveTimeout: 72_000, optimizeEmptyRequests: true },
  (_request, response) => {
    response.writeHead(200, headers);
    response.end(body);
  },
);
server.listen(Number(process.env.PORT), "127.0.0.1");
