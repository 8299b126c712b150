import { http as defaultHttp } from "#http";
import type { ParametersIn, RequestBody } from "../contract/operation-types.ts";
import { brokenBy, type Call, failureOf, partsOf, send } from "./call.ts";
import { httpByFetch } from "./http-fetch.ts";
import { openLimit } from "./limit.ts";
import type { ClientOperation } from "./operation.ts";
import type { CallOptions, ClientOptions } from "./options.ts";
import { requestOf } from "./request.ts";
import { readBody } from "./response.ts";

const defaultTimeoutMs = 30_000;

type Optional<All, Names> = Omit<All, Names & keyof All> & Partial<Pick<All, Names & keyof All>>;

type Body<Operation> = Operation extends { requestBody: object }
  ? { body: RequestBody<Operation> }
  : { body?: RequestBody<Operation> };

/** The path, query and header parameters of an operation by name, and its body as `body`. Those with a default are optional. */
export type Arguments<Operation, Defaulted> = ParametersIn<Operation, "path"> &
  Optional<ParametersIn<Operation, "query">, Defaulted> &
  ParametersIn<Operation, "header"> &
  Body<Operation>;

type ResponseBody<Response> = Response extends { content: { "application/json": infer Value } }
  ? Value
  : Response extends { content: infer Content }
    ? Content[keyof Content]
    : undefined;
type Success<Operation> = Operation extends { responses: infer Responses }
  ? ResponseBody<Responses[keyof Responses & (200 | 201 | 202 | 204)]>
  : never;

/**
 * A function for each operation, by its operationId. It resolves with the body of a successful response, undefined if
 * there is none. It rejects with a `ResponseError` for any other response (a 304 after `If-None-Match` too), with a
 * `ConnectionError` if no whole response arrives, with a `TimeoutError` after the timeout, and with the reason of a signal
 * that aborts.
 */
export type Calls<Operations, Defaults extends Record<keyof Operations, object>> = {
  [Id in keyof Operations]: (
    ...given: Record<never, never> extends Arguments<Operations[Id], keyof Defaults[Id]>
      ? [parameters?: Arguments<Operations[Id], keyof Defaults[Id]>, options?: CallOptions]
      : [parameters: Arguments<Operations[Id], keyof Defaults[Id]>, options?: CallOptions]
  ) => Promise<Success<Operations[Id]>>;
};

/** The calls of these operations, and a reader of text responses as they arrive. */
export function openCalls<Operations, Defaults extends Record<keyof Operations, object>>(
  operations: ClientOperation[],
  client: ClientOptions,
) {
  const open = callOpener(client);

  async function callJson(operation: ClientOperation, parameters: object, options: CallOptions) {
    const call = open(operation, parameters, "application/json", options);
    try {
      const { response, content, body } = await send(call, (response) => response.text());
      try {
        return readBody(content, body);
      } catch (cause) {
        throw failureOf(call, response, body, { cause });
      }
    } finally {
      call.limit.release();
    }
  }

  const calls = operations.map((operation) => [
    operation.operationId,
    (parameters: object = {}, options: CallOptions = {}) => callJson(operation, parameters, options),
  ]);

  return {
    calls: Object.fromEntries(calls) as Calls<Operations, Defaults>,
    /** A text with `silenceMaxMs` is endless: it is broken when it ends, and if nothing arrives for so long. */
    async *readText(
      operationId: string,
      parameters: object,
      accept: string,
      options: CallOptions = {},
      silenceMaxMs?: number,
    ): AsyncGenerator<string, void, void> {
      const operation = operations.find((one) => one.operationId === operationId) as ClientOperation;
      const call = open(
        operation,
        parameters,
        `${accept}, application/problem+json;q=0.1`,
        options,
        silenceMaxMs,
      );
      const decoder = new TextDecoder();
      try {
        const { body } = await send(call, async (response) => response.chunks());
        for await (const bytes of partsOf(call, body)) yield decoder.decode(bytes, { stream: true });
        if (silenceMaxMs) throw brokenBy(call, new Error("the service has ended the stream"));
      } finally {
        call.limit.release();
      }
    },
  };
}

/** Opens calls of a service. Throws a `TypeError` if the base URL is invalid. */
function callOpener(client: ClientOptions) {
  const { protocol, origin, pathname, username, search } = new URL(client.baseUrl);
  if (!/^https?:$/.test(protocol) || username || search) {
    throw new TypeError("baseUrl must be an http or https URL without credentials and query");
  }
  const base = pathname.replace(/\/+$/, "");
  const http = client.fetch ? httpByFetch(client.fetch) : defaultHttp;

  return (
    operation: ClientOperation,
    parameters: object,
    accept: string,
    options: CallOptions,
    silenceMaxMs = Number.POSITIVE_INFINITY,
  ): Call => {
    const { method, operationId } = operation;
    const { path: target, headers: declared, body } = requestOf(operation, parameters);
    const path = base + target;
    if (http.resolvesPaths && new URL(origin + path).href !== origin + path) {
      throw new TypeError(`${operationId}: fetch cannot send a name that is "." or ".."`);
    }
    const headers = new Headers(client.headers);
    const others = { ...options.headers, ...declared, accept };
    for (const [name, value] of Object.entries(others)) headers.set(name, value);
    const request = { origin, path, method, headers, body };
    const { timeoutMs = client.timeoutMs ?? defaultTimeoutMs, signal, onResponse } = options;
    const message = () => `${operationId} timed out after ${timeoutMs} ms (attempts: ${call.attempts})`;
    const limit = openLimit(timeoutMs, signal, message);
    const call: Call = { http, operation, request, client, onResponse, silenceMaxMs, limit, attempts: 0 };
    return call;
  };
}
