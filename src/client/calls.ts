import { Agent, type Dispatcher } from "undici";
import { type Contract, type Operation, operationsOf } from "../service/operations.ts";
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
}

const timeoutOtherwiseMs = 30_000;

type Part<Operation, In extends "path" | "query"> = Operation extends {
  parameters: { [Place in In]: infer Values };
}
  ? Values
  : unknown;
type Optional<All, Names> = Omit<All, Names & keyof All> & Partial<Pick<All, Names & keyof All>>;

/** The path and query parameters of an operation by their names; those with a default can be left out. */
export type Arguments<Operation, Defaulted> = Part<Operation, "path"> &
  Optional<Part<Operation, "query">, Defaulted>;

type Success<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Status in keyof Responses & (200 | 201)]: Responses[Status] extends {
        content: { "application/json": infer Body };
      }
        ? Body
        : never;
    }[keyof Responses & (200 | 201)]
  : never;

/**
 * A function for each operation, by its operationId. It resolves to the body of a successful reply and rejects with a
 * `ReplyError` for any other, with a `TimeoutError` after the time limit and with the reason of a signal that aborts.
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
    { signal, timeoutMs = timeoutOfAllMs }: CallOptions,
  ): Promise<Dispatcher.ResponseData> {
    const limit = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
    const bearer = typeof token === "function" ? await within(limit, token) : token;
    // Asked for by origin and path, since a URL would take a name such as ".." for a step up.
    const reply = await connections.request({
      origin,
      path: base + addressOf(operation, parameters),
      method: operation.method as Dispatcher.HttpMethod,
      headers: { accept, ...(bearer && { authorization: `Bearer ${bearer}` }) },
      signal: limit,
    });
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

/** The path and query of a request. What is undefined is left out; a list is joined as its parameter says. */
function addressOf({ operationId, path, parameters }: Operation, given: object): string {
  const values = given as Record<string, unknown>;
  const unknown = Object.keys(values).find((name) => !parameters.some((declared) => declared.name === name));
  if (unknown !== undefined) throw new TypeError(`${operationId} has no parameter ${unknown}`);
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
    else if (value === undefined) continue;
    else if (explode === false || !Array.isArray(value)) query.set(name, String(value));
    else for (const one of value) query.append(name, String(one));
  }
  return query.size > 0 ? `${address}?${query}` : address;
}
