import { http as defaultHttp } from "#http";
import type { ParametersIn, RequestBody } from "../contract/operation-types.ts";
import { ConnectionError, ResponseError } from "./errors.ts";
import type { HttpResponse } from "./http.ts";
import { httpByFetch } from "./http-fetch.ts";
import { openLimit, sleep, within } from "./limit.ts";
import type { ClientOperation } from "./operation.ts";
import { requestOf } from "./request.ts";
import { readBody } from "./response.ts";
import { retryDelayMs } from "./retry.ts";

export interface ClientOptions {
  /** The URL of the service, for example `http://127.0.0.1:8081`. Its path is a prefix of every path of the contract. */
  baseUrl: string | URL;
  /**
   * The bearer token of every call; a function is called for each. If the response is 401, a function is called once more
   * with `refresh: true`, and the call is repeated with a token that differs. Default: none.
   */
  token?: string | ((request: { refresh: boolean }) => string | Promise<string>);
  /** Limit for a call in milliseconds, from the token to the end of the response, retries included. Default: 30,000. */
  timeoutMs?: number;
  /** Maximum number of retries after a connection error, 429, 502, 503 or 504. Default: 2. */
  retries?: number;
  /** Headers of every call. */
  headers?: Record<string, string>;
  /** Sends the requests. Default: undici in Node.js, the global `fetch` elsewhere. */
  fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  /** Ends the call when it aborts. */
  signal?: AbortSignal;
  /** Limit for this call in milliseconds. Default: that of the client. */
  timeoutMs?: number;
  /** Headers of this call, which replace those of the client. */
  headers?: Record<string, string>;
  /** Receives the head of every response, also before a retry, before the body is read. It contains the `ETag`. */
  onResponse?: (response: ResponseHead) => void;
}

export interface ResponseHead {
  status: number;
  headers: Headers;
}

const defaultTimeoutMs = 30_000;
const defaultRetries = 2;

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
  ? {
      [Status in keyof Responses & (200 | 201 | 204)]: ResponseBody<Responses[Status]>;
    }[keyof Responses & (200 | 201 | 204)]
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
  clientOptions: ClientOptions,
) {
  const { baseUrl, token, retries = defaultRetries } = clientOptions;
  const { protocol, origin, pathname, username, search } = new URL(baseUrl);
  if (!/^https?:$/.test(protocol) || username || search) {
    throw new TypeError("baseUrl must be an http or https URL without credentials and query");
  }
  const base = pathname.replace(/\/+$/, "");
  const http = clientOptions.fetch ? httpByFetch(clientOptions.fetch) : defaultHttp;

  function prepare(operation: ClientOperation, parameters: object, extraHeaders: Record<string, string>) {
    const { path, headers, body } = requestOf(operation, parameters);
    const address = origin + base + path;
    if (http.resolvesPaths && new URL(address).href !== address) {
      throw new TypeError(`${operation.operationId}: fetch cannot send a name that is "." or ".."`);
    }
    const all = new Headers(clientOptions.headers);
    for (const [name, value] of Object.entries({ ...extraHeaders, ...headers })) all.set(name, value);
    return { origin, path: base + path, method: operation.method, headers: all, body };
  }

  /** Prepares a call. It must be closed. */
  function openCall(operation: ClientOperation, parameters: object, accept: string, options: CallOptions) {
    const { operationId, isIdempotent, successes } = operation;
    const { timeoutMs = clientOptions.timeoutMs ?? defaultTimeoutMs, onResponse } = options;
    const request = prepare(operation, parameters, { ...options.headers, accept });
    let attempts = 0;
    const timeoutMessage = () => `${operationId} timed out after ${timeoutMs} ms (attempts: ${attempts})`;
    const limit = openLimit(timeoutMs, options.signal, timeoutMessage);
    const { signal } = limit;

    const brokenBy = (cause: unknown) =>
      signal.aborted ? signal.reason : new ConnectionError(operationId, attempts, cause as Error);

    const receive = <Part>(part: Promise<Part>): Promise<Part> =>
      part.catch((cause) => {
        throw brokenBy(cause);
      });

    const failure = ({ status, headers }: ResponseHead, text: string, cause?: ErrorOptions) =>
      new ResponseError(operationId, { status, headers, text, attempts }, cause);

    /** Sets the token and returns whether it has changed. */
    async function authorize(refresh: boolean): Promise<boolean> {
      const bearer = typeof token === "function" ? await within(signal, token({ refresh })) : token;
      const before = request.headers.get("authorization");
      if (bearer) request.headers.set("authorization", `Bearer ${bearer}`);
      return request.headers.get("authorization") !== before;
    }

    async function attempt<Body>(read: (response: HttpResponse) => Promise<Body>) {
      attempts += 1;
      const response = await receive(http.send({ ...request, signal }));
      onResponse?.({ status: response.status, headers: response.headers });
      const content = successes[response.status];
      if (content === undefined) throw failure(response, await receive(response.text()));
      return { response, content, body: await receive(read(response)) };
    }

    /** Sends the request, again after transient errors and once with a new token, until `read` has read the body. */
    async function send<Body>(read: (response: HttpResponse) => Promise<Body>) {
      signal.throwIfAborted();
      await authorize(false);
      let hasRefreshed = typeof token !== "function";
      let retry = 0;
      for (;;) {
        try {
          return await attempt(read);
        } catch (error) {
          if (!(error instanceof ResponseError || error instanceof ConnectionError)) throw error;
          if (!hasRefreshed && error instanceof ResponseError && error.status === 401) {
            hasRefreshed = true;
            if (await authorize(true)) continue;
          }
          retry += 1;
          const delayMs = isIdempotent && retry <= retries ? retryDelayMs(error, retry) : undefined;
          if (delayMs === undefined || delayMs >= limit.remainingMs()) throw error;
          await sleep(delayMs, signal);
        }
      }
    }

    return { send, failure, brokenBy, close: limit.release };
  }

  const calls = operations.map((operation) => [
    operation.operationId,
    async (parameters: object = {}, options: CallOptions = {}) => {
      const call = openCall(operation, parameters, "application/json", options);
      try {
        const { response, content, body } = await call.send((response) => response.text());
        try {
          return readBody(content, body);
        } catch (cause) {
          throw call.failure(response, body, { cause });
        }
      } finally {
        call.close();
      }
    },
  ]);

  return {
    calls: Object.fromEntries(calls) as Calls<Operations, Defaults>,
    async *readText(
      operationId: keyof Operations,
      parameters: object,
      accept: string,
      options: CallOptions = {},
    ): AsyncGenerator<string, void, void> {
      const operation = operations.find((one) => one.operationId === operationId) as ClientOperation;
      const call = openCall(operation, parameters, accept, options);
      const decoder = new TextDecoder();
      try {
        const { body } = await call.send(async (response) => response.chunks());
        try {
          for await (const bytes of body) yield decoder.decode(bytes, { stream: true });
        } catch (cause) {
          throw call.brokenBy(cause);
        }
      } finally {
        call.close();
      }
    },
  };
}
