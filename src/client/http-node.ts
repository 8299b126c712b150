import { Agent, type Dispatcher } from "undici";
import type { Http } from "./http.ts";

/** An own agent, since the global one can be of another version of undici. Calls have their own timeout. */
const connections = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** HTTP in Node.js, by origin and path: `fetch` takes a URL, which resolves a name such as "..". */
export const http: Http = {
  resolvesPaths: false,
  async send({ method, headers, ...request }) {
    const response = await connections.request({
      ...request,
      method: method as Dispatcher.HttpMethod,
      headers: Object.fromEntries(headers),
    });
    const { statusCode: status, body } = response;
    return { status, headers: headersOf(response), text: () => body.text(), chunks: () => body };
  },
};

function headersOf(response: Dispatcher.ResponseData): Headers {
  const entries = Object.entries(response.headers).flatMap(([name, value = []]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  return new Headers(entries);
}
