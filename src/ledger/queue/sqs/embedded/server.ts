import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isReachedBy } from "../../../../values/host.ts";
import { openBodies } from "./bodies.ts";
import { openCommits } from "./commits.ts";
import { isBusy } from "./database.ts";
import { hasSpaceFor } from "./disk.ts";
import { openMessages } from "./messages.ts";
import type { Caller, Queue } from "./operation.ts";
import { operate } from "./operations.ts";
import type { Protocol } from "./protocol.ts";
import { jsonProtocol } from "./protocol-json.ts";
import { queryProtocol } from "./protocol-query.ts";
import { SqsError, unavailable } from "./sqs-error.ts";
import { takeOver } from "./takeover.ts";
import { openWaits } from "./waits.ts";

export interface ServerOptions {
  folder: string;
  /** 0 selects a free port. */
  port: number;
  /** The name of the one queue. */
  name: string;
  /** Hosts by which clients reach the server, besides those of the machine itself. Default: none. */
  allowedHosts?: string[];
}

/** The server listens on loopback only. */
const host = "127.0.0.1";
const connectionsMax = 2000;
/** Longer than the longest wait for a message. */
const idleMaxMs = 30_000;
const headersMaxMs = 10_000;
const keepAliveMs = 75_000;
/** For the messages in responses that wait for their clients. */
const unsentBytesMax = 32 * 2 ** 20;
/** The pause between steps of cleaning, if there is more to clean, and if not. */
const cleaningPauseMs = 10;
const cleanedPauseMs = 1000;

/**
 * Serves the messages of a folder to clients of Amazon SQS, first those of an earlier release. Resolves when it listens.
 * Nothing of a message is logged.
 */
export async function startServer({ folder, port, name, allowedHosts = [] }: ServerOptions) {
  const messages = openMessages(folder);
  const warnings = takeOver(folder, name, messages);
  messages.extendLog();
  const waits = openWaits(() => messages.mayReceive());
  const cleaning = startCleaning(() => {
    const isMore = messages.transaction(() => messages.clean());
    return messages.shrink() || isMore;
  });
  const queue: Queue = {
    ...{ name, messages, waits, commit: openCommits(messages), clean: cleaning.hasten },
    hasSpaceFor: (bytes) => hasSpaceFor(folder, bytes),
  };
  const { listener, stop } = createListener(queue, allowedHosts);
  const server = createServer(
    { keepAliveTimeout: keepAliveMs, headersTimeout: headersMaxMs, requestTimeout: idleMaxMs },
    listener,
  );
  server.timeout = idleMaxMs;
  server.maxConnections = connectionsMax;
  server.listen(port, host);
  await once(server, "listening");
  return {
    address: `http://${host}:${(server.address() as AddressInfo).port}`,
    warnings,
    /** Ends waits, completes requests and closes the file. */
    async close(): Promise<void> {
      stop();
      cleaning.stop();
      server.close();
      server.closeIdleConnections();
      const late = setTimeout(() => server.closeAllConnections(), closeMaxMs);
      await once(server, "close");
      clearTimeout(late);
      messages[Symbol.dispose]();
    },
  };
}

const closeMaxMs = 2000;

/** Repeats a step of work that returns true if there is more. */
function startCleaning(step: () => boolean) {
  let timer: NodeJS.Timeout;
  function work(): void {
    let isMore = false;
    try {
      isMore = step();
    } catch {
      // Another process is writing, or the disk is full: a later step can succeed.
    }
    schedule(isMore ? cleaningPauseMs : cleanedPauseMs);
  }
  function schedule(pauseMs: number): void {
    clearTimeout(timer);
    timer = setTimeout(work, pauseMs);
  }
  schedule(cleanedPauseMs);
  return { hasten: () => schedule(cleaningPauseMs), stop: () => clearTimeout(timer) };
}

function createListener(queue: Queue, allowedHosts: string[]) {
  const readBody = openBodies();
  /** Those of the callers whose requests are handled. */
  const connections = new Set<AbortController>();
  let isStopping = false;
  let unsentBytes = 0;

  async function handle(protocol: Protocol, id: string, request: IncomingMessage, response: ServerResponse) {
    rejectPages(request.headers, allowedHosts);
    if (request.method !== "POST") {
      throw new SqsError("InvalidAction", "A request must have the method POST.", 405);
    }
    const body = await readBody(request, response);
    const { operation, input } = protocol.read({ headers: request.headers, path: request.url ?? "/", body });
    const output = await operate(queue, operation, input, callerOf(request, response));
    return protocol.result(id, operation, output);
  }

  function callerOf({ headers, socket }: IncomingMessage, response: ServerResponse): Caller {
    const connection = new AbortController();
    if (isStopping || response.closed) connection.abort();
    connections.add(connection);
    let bytes = 0;
    response.once("close", () => {
      connections.delete(connection);
      if (!response.writableFinished) connection.abort();
      unsentBytes -= bytes;
    });
    const region = /Credential=[^/]+\/\d+\/([\w-]+)\//.exec(headers.authorization ?? "")?.[1];
    return {
      host: headers.host ?? `${host}:${socket.localPort}`,
      region: region ?? "us-east-1",
      signal: connection.signal,
      mayDeliver: () => unsentBytes < unsentBytesMax,
      deliver(more) {
        bytes += more;
        unsentBytes += more;
      },
    };
  }

  async function listener(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isForm = request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded");
    const protocol = isForm ? queryProtocol : jsonProtocol;
    const id = randomUUID();
    const { status, headers, body } = await handle(protocol, id, request, response).catch((error) =>
      protocol.error(id, toSqsError(error)),
    );
    const bytes = Buffer.from(body);
    // The rest of a request that was not read would be taken for the next one.
    const close = isStopping || !request.complete ? { connection: "close" } : {};
    response.writeHead(status, { ...headers, ...close, "content-length": bytes.length }).end(bytes);
  }

  /** Ends waits. Connections end after the next response. */
  function stop(): void {
    isStopping = true;
    for (const connection of connections) connection.abort();
  }

  return { listener, stop };
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
