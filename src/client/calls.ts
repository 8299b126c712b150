import { Agent, type Dispatcher } from "undici";
import { type Contract, type Operation, operationsOf } from "../contract/operations.ts";
import { ReplyError, readBody } from "./reply.ts";

export interface ClientOptions {
  /** Where the service is, for example `http://127.0.0.1:8081`; a path is put before those of the contract. */
  baseUrl: string | URL;
  /** Sent with every call as a bearer token; a function is asked for it each time. */
  token?: string | (() => string | Promise<string>);
  /** Milliseconds a call may take, the token and the reply included; 30,000 when it is not given. */
  timeoutMs?: number;
}

export interface CallOptions {
  /** Ends the call when it aborts. */
  signal?: AbortSignal;
  /** Milliseconds this call may take. */
  timeoutMs?: number;
  /** Told of every reply, a refusal too, before its body is read: where an `ETag` is to be had. */
  onReply?: (reply: ReplyHead) => void;
}

export interface ReplyHead {
  status: number;
  headers: Headers;
}

const timeoutOtherwiseMs = 30_000;

type Part<Operation, In extends "path" | "query" | "header"> = Operation extends {
  parameters: { [Place in In]?: infer Values };
}
  ? [NonNullable<Values>] extends [never]
    ? unknown
    : NonNullable<Values>
  : unknown;
type Optional<All, Names> = Omit<All, Names & keyof All> & Partial<Pick<All, Names & keyof All>>;

type Json<Value> = { content: { "application/json": Value } };
type Body<Operation> = Operation extends { requestBody: Json<infer Value> }
  ? { body: Value }
  : Operation extends { requestBody?: never }
    ? unknown
    : Operation extends { requestBody?: Json<infer Value> }
      ? { body?: Value }
      : unknown;

/**
 * The path, query and header parameters of an operation by their names, and its body as `body`; those with a default
 * can be left out.
 */
export type Arguments<Operation, Defaulted> = Part<Operation, "path"> &
  Optional<Part<Operation, "query">, Defaulted> &
  Part<Operation, "header"> &
  Body<Operation>;

type BodyOf<Response> =
  Response extends Json<infer Value>
    ? Value
    : Response extends { content: infer Content }
      ? Content[keyof Content]
      : undefined;
type Success<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Status in keyof Responses & (200 | 201 | 204)]: BodyOf<Responses[Status]>;
    }[keyof Responses & (200 | 201 | 204)]
  : never;

/**
 * A function for each operation, by its operationId. It resolves to the body of a successful reply, undefined where it
 * has none, and rejects with a `ReplyError` for any other, with a `TimeoutError` after the time limit and with the
 * reason of a signal that aborts. That what `If-None-Match` names is still the answer is such an error, with status 304.
 */
export type Calls<Operations, Defaulted extends Record<keyof Operations, string>> = {
  [Id in keyof Operations]: (
    ...given: Record<never, never> extends Arguments<Operations[Id], Defaulted[Id]>
      ? [parameters?: Arguments<Operations[Id], Defaulted[Id]>, options?: CallOptions]
      : [parameters: Arguments<Operations[Id], Defaulted[Id]>, options?: CallOptions]
  ) => Promise<Success<Operations[Id]>>;
};

/** Not those that a process shares, which can be of another version; a call's signal tells how long it may take. */
const connections = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** The calls of a contract, and a reader of replies that are text. */
export function openCalls<Operations, Defaulted extends Record<keyof Operations, string>>(
  contract: Contract,
  { baseUrl, token, timeoutMs: timeoutOfAllMs = timeoutOtherwiseMs }: ClientOptions,
) {
  const { protocol, origin, pathname, username, search } = new URL(baseUrl);
  if (!/^https?:$/.test(protocol) || username || search) {
    throw new TypeError("baseUrl must be http or https, a host and at most a path");
  }
  const base = pathname.replace(/\/+$/, "");

  async function send(
    operation: Operation,
    parameters: object,
    accept: string,
    { signal, timeoutMs = timeoutOfAllMs, onReply }: CallOptions,
  ): Promise<Dispatcher.ResponseData> {
    const { path, headers, body } = requestOf(operation, parameters);
    const limit = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
    const bearer = typeof token === "function" ? await within(limit, token) : token;
    // Asked for by origin and path, since a URL would take a name such as ".." for a step up.
    const reply = await connections.request({
      origin,
      path: base + path,
      method: operation.method as Dispatcher.HttpMethod,
      headers: { ...headers, accept, ...(bearer && { authorization: `Bearer ${bearer}` }) },
      body,
      signal: limit,
    });
    onReply?.({ status: reply.statusCode, headers: headersOf(reply) });
    if (reply.statusCode < 300 && reply.statusCode in operation.responses) return reply;
    throw new ReplyError(operation.operationId, reply.statusCode, await reply.body.text());
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
    calls: Object.fromEntries(calls) as Calls<Operations, Defaulted>,
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

/** What is resolved, unless the limit is reached before. */
function within<Value>(limit: AbortSignal, value: () => Value | Promise<Value>): Promise<Value> {
  const { promise: reached, reject } = Promise.withResolvers<never>();
  limit.addEventListener("abort", () => reject(limit.reason), { once: true });
  return Promise.race([value(), reached]);
}

/** What is sent for these parameters and this body. What is undefined is left out. */
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

/** The path and query of a request. A list is joined as its parameter says. */
function addressOf({ operationId, path, parameters }: Operation, values: Record<string, unknown>): string {
  const query = new URLSearchParams();
  let address = path;
  for (const { name, in: place, explode } of parameters) {
    const value = values[name];
    if (place === "path" && (value === undefined || value === "")) {
      throw new TypeError(`${operationId} needs ${name}`);
    }
    if (explode === false && [value].flat().some((one) => String(one).includes(","))) {
      throw new TypeError(`${operationId}: no ${name} can hold a comma`);
    }
    if (place === "path") address = address.replace(`{${name}}`, encodeURIComponent(String(value)));
    else if (value === undefined || place === "header") continue;
    else if (explode === false || !Array.isArray(value)) query.set(name, String(value));
    else for (const one of value) query.append(name, String(one));
  }
  return query.size > 0 ? `${address}?${query}` : address;
}

function headersOf(reply: Dispatcher.ResponseData): Headers {
  const entries = Object.entries(reply.headers).flatMap(([name, value = []]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  return new Headers(entries);
}
