import { Agent, type Dispatcher } from "undici";
import type { ParametersIn, RequestBody } from "../contract/operation-types.ts";
import { type Contract, type Operation, operationsOf } from "../contract/operations.ts";
import { ResponseError, readBody } from "./response.ts";

export interface ClientOptions {
  /** The URL of the service, for example `http://127.0.0.1:8081`. Its path is a prefix of every path of the contract. */
  baseUrl: string | URL;
  /** The bearer token of every call; a function is called for each. Default: none. */
  token?: string | (() => string | Promise<string>);
  /** Limit for a call in milliseconds, from the token to the end of the response. Default: 30,000. */
  timeoutMs?: number;
}

export interface CallOptions {
  /** Ends the call when it aborts. */
  signal?: AbortSignal;
  /** Limit for this call in milliseconds. Default: that of the client. */
  timeoutMs?: number;
  /** Receives the head of every response, also of errors, before the body is read. It contains the `ETag`. */
  onResponse?: (response: ResponseHead) => void;
}

export interface ResponseHead {
  status: number;
  headers: Headers;
}

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
  ? {
      [Status in keyof Responses & (200 | 201 | 204)]: ResponseBody<Responses[Status]>;
    }[keyof Responses & (200 | 201 | 204)]
  : never;

/**
 * A function for each operation, by its operationId. It resolves with the body of a successful response, undefined if
 * there is none. It rejects with a `ResponseError` for any other response (a 304 after `If-None-Match` too), with a
 * `TimeoutError` after the timeout, and with the reason of a signal that aborts.
 */
export type Calls<Operations, Defaults extends Record<keyof Operations, object>> = {
  [Id in keyof Operations]: (
    ...given: Record<never, never> extends Arguments<Operations[Id], keyof Defaults[Id]>
      ? [parameters?: Arguments<Operations[Id], keyof Defaults[Id]>, options?: CallOptions]
      : [parameters: Arguments<Operations[Id], keyof Defaults[Id]>, options?: CallOptions]
  ) => Promise<Success<Operations[Id]>>;
};

/** An own agent, since the global one can be of another version of undici. Calls have their own timeout. */
const connections = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** The calls of a contract, and a reader of text responses as they arrive. */
export function openCalls<Operations, Defaults extends Record<keyof Operations, object>>(
  contract: Contract,
  { baseUrl, token, timeoutMs: clientTimeoutMs = defaultTimeoutMs }: ClientOptions,
) {
  const { protocol, origin, pathname, username, search } = new URL(baseUrl);
  if (!/^https?:$/.test(protocol) || username || search) {
    throw new TypeError("baseUrl must be an http or https URL without credentials and query");
  }
  const base = pathname.replace(/\/+$/, "");

  async function send(
    operation: Operation,
    parameters: object,
    accept: string,
    { signal, timeoutMs = clientTimeoutMs, onResponse }: CallOptions,
  ): Promise<Dispatcher.ResponseData> {
    const { path, headers, body } = requestOf(operation, parameters);
    const limit = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
    const bearer = typeof token === "function" ? await within(limit, token) : token;
    // By origin and path, since a URL would resolve a name such as "..".
    const response = await connections.request({
      origin,
      path: base + path,
      method: operation.method as Dispatcher.HttpMethod,
      headers: { ...headers, accept, ...(bearer && { authorization: `Bearer ${bearer}` }) },
      body,
      signal: limit,
    });
    onResponse?.({ status: response.statusCode, headers: headersOf(response) });
    if (response.statusCode < 300 && response.statusCode in operation.responses) return response;
    throw new ResponseError(operation.operationId, response.statusCode, await response.body.text());
  }

  const operations = operationsOf(contract);
  const calls = operations.map((operation) => [
    operation.operationId,
    async (parameters: object = {}, options: CallOptions = {}) => {
      const { statusCode, body } = await send(operation, parameters, "application/json", options);
      return readBody(contract, operation, statusCode, await body.text());
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
      const operation = operations.find((one) => one.operationId === operationId) as Operation;
      const { body } = await send(operation, parameters, accept, options);
      const decoder = new TextDecoder();
      for await (const bytes of body as AsyncIterable<Uint8Array>) {
        yield decoder.decode(bytes, { stream: true });
      }
    },
  };
}

/** Resolves with the value, or rejects when the limit aborts. */
function within<Value>(limit: AbortSignal, value: () => Value | Promise<Value>): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  limit.addEventListener("abort", () => reject(limit.reason), { once: true });
  return Promise.race([value(), aborted]);
}

/** The request for these parameters and this body. Undefined values are left out. */
function requestOf(operation: Operation, given: object) {
  const { body, ...values } = given as Record<string, unknown>;
  const { operationId, parameters } = operation;
  const unknown = Object.keys(values).find((name) => !parameters.some((declared) => declared.name === name));
  if (unknown !== undefined) throw new TypeError(`${operationId} has no parameter ${unknown}`);
  if (body !== undefined && !operation.body) throw new TypeError(`${operationId} has no body`);
  const declared = parameters.filter(
    ({ name, in: place }) => place === "header" && values[name] !== undefined,
  );
  const headers = Object.fromEntries(declared.map(({ name }) => [name, String(values[name])]));
  const path = addressOf(operation, values);
  if (body === undefined) return { path, headers };
  return { path, headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) };
}

/** The path and query of a request. A list is joined by commas or repeated, as its parameter declares. */
function addressOf({ operationId, path, parameters }: Operation, values: Record<string, unknown>): string {
  const query = new URLSearchParams();
  let address = path;
  for (const { name, in: place, explode } of parameters) {
    const value = values[name];
    if (place === "path" && (value === undefined || value === "")) {
      throw new TypeError(`${operationId} requires ${name}`);
    }
    if (explode === false && [value].flat().some((one) => String(one).includes(","))) {
      throw new TypeError(`${operationId}: ${name} must not contain a comma`);
    }
    if (place === "path") address = address.replace(`{${name}}`, encodeURIComponent(String(value)));
    else if (value === undefined || place === "header") continue;
    else if (explode === false || !Array.isArray(value)) query.set(name, String(value));
    else for (const one of value) query.append(name, String(one));
  }
  return query.size > 0 ? `${address}?${query}` : address;
}

function headersOf(response: Dispatcher.ResponseData): Headers {
  const entries = Object.entries(response.headers).flatMap(([name, value = []]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  return new Headers(entries);
}
