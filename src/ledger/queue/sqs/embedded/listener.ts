import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { isReachedBy } from "../../../../values/host.ts";
import { isBusy } from "./database.ts";
import type { Caller, ServedQueue } from "./operation.ts";
import { operationOf } from "./operations.ts";
import { jsonProtocol } from "./protocol/json.ts";
import type { Protocol } from "./protocol/protocol.ts";
import { queryProtocol } from "./protocol/query.ts";
import { SqsError, unavailable } from "./protocol/sqs-error.ts";
import { openBodies } from "./request-bodies.ts";

/** The server listens on loopback only. */
export const host = "127.0.0.1";
/** For the messages in responses that wait for their clients. */
const unsentBytesMax = 32 * 2 ** 20;

export type Listener = ReturnType<typeof newListener>;

export const newListener = (queue: ServedQueue, allowedHosts: string[]) => ({
  ...{ queue, allowedHosts, readBody: openBodies() },
  /** The connections of the callers whose requests are handled. */
  connections: new Set<AbortController>(),
  isStopping: false,
  /** The bytes of messages in responses that are not sent. */
  unsentBytes: 0,
});

/** Handles a request and sends its response. */
export async function respond(listener: Listener, request: IncomingMessage, response: ServerResponse) {
  const isForm = request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded");
  const protocol = isForm ? queryProtocol : jsonProtocol;
  const id = randomUUID();
  const { status, headers, body } = await handle(listener, protocol, id, request, response).catch((error) =>
    protocol.error(id, toSqsError(error)),
  );
  const bytes = Buffer.from(body);
  // The rest of a request that was not read would be taken for the next one.
  const close = listener.isStopping || !request.complete ? { connection: "close" } : {};
  response.writeHead(status, { ...headers, ...close, "content-length": bytes.length }).end(bytes);
}

/** Ends waits. Connections end after the next response. */
export function stopListening(listener: Listener): void {
  listener.isStopping = true;
  for (const connection of listener.connections) connection.abort();
}

async function handle(
  listener: Listener,
  protocol: Protocol,
  id: string,
  request: IncomingMessage,
  response: ServerResponse,
) {
  rejectPages(request.headers, listener.allowedHosts);
  if (request.method !== "POST") {
    throw new SqsError("InvalidAction", "A request must have the method POST.", 405);
  }
  const body = await listener.readBody(request, response);
  const { operation, input } = protocol.read(request, body);
  const caller = callerOf(listener, request, response);
  const output = await operationOf(operation)(listener.queue, input, caller);
  return protocol.result(id, operation, output);
}

function callerOf(listener: Listener, request: IncomingMessage, response: ServerResponse): Caller {
  const { headers, socket } = request;
  const connection = new AbortController();
  if (listener.isStopping || response.closed) connection.abort();
  listener.connections.add(connection);
  let bytes = 0;
  response.once("close", () => {
    listener.connections.delete(connection);
    if (!response.writableFinished) connection.abort();
    listener.unsentBytes -= bytes;
  });
  const region = /Credential=[^/]+\/\d+\/([\w-]+)\//.exec(headers.authorization ?? "")?.[1];
  return {
    host: headers.host ?? `${host}:${socket.localPort}`,
    region: region ?? "us-east-1",
    signal: connection.signal,
    mayDeliver: () => listener.unsentBytes < unsentBytesMax,
    deliver(more) {
      bytes += more;
      listener.unsentBytes += more;
    },
  };
}

/** Throws if a page in a browser may have sent the request, or one whose host now leads to loopback (DNS rebinding). */
function rejectPages({ host, origin, "sec-fetch-site": site }: IncomingHttpHeaders, allowedHosts: string[]) {
  if (host !== undefined && !isReachedBy(host, allowedHosts)) {
    const advice = "The parameter allowed_hosts of QUEUE_URL lists its hosts.";
    throw new SqsError("AccessDenied", `The queue has no such host. ${advice}`, 421);
  }
  if (origin !== undefined || site !== undefined)
    throw new SqsError("AccessDenied", "Requests of pages in a browser are not accepted.", 403);
}

function toSqsError(error: unknown): SqsError {
  if (error instanceof SqsError) return error;
  if (isBusy(error)) return unavailable("Another process is writing.");
  return new SqsError("InternalFailure", "The request could not be processed.", 500);
}
