import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import inject from "light-my-request";
import { STATUS_CODES } from "../node-http.ts";
import { problemJson } from "../problem.ts";
import { originOf } from "../request.ts";
import { requestIdHeader } from "../request-id.ts";
import { json } from "../response.ts";
import { requestOf, type Tool, type ToolRequest } from "./tools.ts";

/** Maximum bytes of a result. A model reads all of it. */
export const resultMaxBytes = 20_000;

/** The headers of the caller that decide who it is and which URL it uses, and the reason of its access. */
const headersOfCaller = [
  ...["authorization", "host", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"],
  "access-reason",
];

/**
 * Calls a tool for the sender of a request: sends the request that the call means to the service itself. A page that is too
 * large is requested again with half its size, so that its cursor leads to what follows.
 */
export async function callTool(
  sender: FastifyRequest,
  tool: Tool,
  given: Record<string, unknown>,
  signal: AbortSignal,
) {
  const { pageSize, defaults } = tool;
  let size = Math.min(Number(given[pageSize.name] ?? defaults[pageSize.name]), pageSize.max);
  for (let args = given; ; args = { ...given, [pageSize.name]: size }) {
    const request = requestOf(tool, args);
    if ("fault" in request) return resultOf(request.fault, true);
    const { statusCode: status, rawPayload, payload } = await send(sender, request, signal);
    const isError = status >= 400;
    const { length } = rawPayload;
    if (length <= resultMaxBytes)
      return resultOf(payload.trimEnd() || `${status} ${STATUS_CODES[status]}`, isError);
    size = Math.floor(size / 2);
    if (isError || !(size >= 1))
      return resultOf(
        `the response (${status}) has ${length} bytes, and a tool returns up to ${resultMaxBytes}; ` +
          `read it with ${request.method} ${originOf(sender)}${request.url}`,
        true,
      );
  }
}

const resultOf = (text: string, isError: boolean) => ({
  content: [{ type: "text" as const, text }],
  ...(isError && { isError }),
});

/**
 * Sends a request to the service as its sender would: with the same credentials and from the same connection, so that
 * authentication, limits and shares are the same.
 */
function send(sender: FastifyRequest, { method, url, body }: ToolRequest, signal: AbortSignal) {
  const { server, raw, id, headers } = sender;
  const { remoteAddress = "", localAddress, localPort } = raw.socket;
  const own = headersOfCaller.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]));
  const dispatch = (request: IncomingMessage, response: Parameters<typeof server.routing>[1]) => {
    Object.assign(request.socket, { localAddress, localPort });
    // The library lacks them, and normalises the path, in which `..` is a name.
    Object.assign(request, { url, headersDistinct: raw.headersDistinct });
    server.routing(request, response);
  };
  return inject(dispatch, {
    method: method as "GET",
    url: "/",
    headers: {
      ...Object.fromEntries(own),
      accept: `${json}, ${problemJson}`,
      [requestIdHeader]: id,
      ...(body !== undefined && { "content-type": json }),
    },
    ...(body !== undefined && { payload: body }),
    remoteAddress,
    signal,
  });
}
