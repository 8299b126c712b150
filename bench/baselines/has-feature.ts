import { serve } from "./serve.ts";

/** Responds to every request with the bytes of a response of the feature storage. It does not read the request. */
const body = '{"result":true}\n';
const headers = { "content-type": "application/json; charset=utf-8", "content-length": "16" };

serve((_request, response) => {
  response.writeHead(200, headers);
  response.end(body);
});
