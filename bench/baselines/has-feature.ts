import { createServer } from "node:http";

/** Answers every request with the bytes of the feature storage's answer, and looks at none. */
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
