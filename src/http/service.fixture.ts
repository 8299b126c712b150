import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { type Dispatcher, request } from "undici";
import type { Contract } from "../contract/operations.ts";
import { openLog } from "../process/log.ts";
import { messagesOf } from "./failure.ts";
import type { Handlers } from "./handlers.ts";
import type { ServiceOptions } from "./options.ts";
import { createService } from "./service.ts";

type Operations = Record<string, unknown>;
export type AnyHandlers = Record<string, (request: never) => Promise<unknown>>;

/** A contract with these paths and components. */
export const contractOf = (paths: Contract["paths"], components: object = {}): Contract => ({
  openapi: "3.1.0",
  info: { title: "Things", version: "1.0.0" },
  paths,
  components: { ...components },
});

/** An operation that is declared to return this content with 200. */
export const operation = (operationId: string, content: Record<string, object> = {}, more: object = {}) => ({
  ...{ operationId, responses: { 200: { description: "a response", content } } },
  ...more,
});

export const inPath = (name: string, schema: object) => ({ name, in: "path", required: true, schema });
export const inQuery = (name: string, schema: object, more: object = {}) => ({
  ...{ name, in: "query", schema },
  ...more,
});

/**
 * Options of a service. Default: its errors are a line of text, or what it tells a caller who accepts JSON only, and it logs
 * nothing.
 */
export const serviceOptions = (
  contract: Contract,
  handlers: AnyHandlers,
  others: Partial<ServiceOptions<Operations>> = {},
): ServiceOptions<Operations> => ({
  contract,
  handlers: handlers as unknown as Handlers<Operations>,
  renderError: (failed, request) =>
    request?.accept === "application/json"
      ? { type: "application/json", body: failed.details }
      : { type: "text/plain", body: `${messagesOf(failed).join("; ")}\n` },
  log: openLog("silent"),
  ...others,
});

/** Starts a service with these options on loopback. */
export async function serve(...options: Parameters<typeof serviceOptions>) {
  const app = await createService(serviceOptions(...options));
  const base = await app.listen({ port: 0, host: "127.0.0.1" });
  return {
    app,
    base,
    async send(path: string, options?: Parameters<typeof request>[1]) {
      const { statusCode: status, headers, body } = await request(base + path, options);
      const bytes = Buffer.from(await body.arrayBuffer());
      return { status, headers, bytes, text: String(bytes) };
    },
    /** Sends bytes over TCP: client libraries do not send invalid requests. Resolves with all responses. */
    sendBytes(bytes: string): Promise<string> {
      const socket = connect(Number(new URL(base).port), "127.0.0.1");
      socket.write(bytes);
      return text(socket);
    },
    [Symbol.asyncDispose]: () => app.close(),
  };
}

/** Resolves with the status of the response to a request. Default: GET. */
export async function statusOf(url: string, headers = {}, method: Dispatcher.HttpMethod = "GET") {
  const { statusCode, body } = await request(url, { method, headers });
  await body.dump();
  return statusCode;
}
