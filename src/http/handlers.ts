import type { Logger } from "../process/log.ts";
import type { Caller } from "./security.ts";

/**
 * The types a contract gives to its handlers. A handler takes what its operation declares, answers with one of the
 * replies its operation declares, and never sees the framework.
 */

/** A text may come in pieces, made while they are sent. */
type Sent<Type, Body> = Type extends `text/${string}` ? Body | AsyncIterable<Body> : Body;

type Answer<Status, Type, Body> = Type extends "application/json"
  ? { status: Status; type?: never; body: Body }
  : { status: Status; type: Type; body: Sent<Type, Body> };

type Answers<Status, Response> = Response extends { content: infer Content }
  ? { [Type in keyof Content]: Answer<Status, Type, Content[Type]> }[keyof Content]
  : { status: Status; type?: never; body?: never };

/** The headers by the names that are declared, without the signature that allows any other. */
type Declared<Headers> = { [Name in keyof Headers as string extends Name ? never : Name]?: Headers[Name] };
type HeadersOf<Response> = Response extends { headers: infer Headers } ? Declared<Headers> : never;

/**
 * What a handler may answer: one variant for each declared status and media type; JSON need not be named.
 */
export type Reply<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Status in keyof Responses]: Answers<Status, Responses[Status]> & {
        headers?: HeadersOf<Responses[Status]>;
      };
    }[keyof Responses]
  : never;

/** The media types of the operation's successful replies. */
type MediaType<Operation> = Operation extends { responses: { 200: { content: infer Content } } }
  ? keyof Content
  : never;

type Part<Operation, In extends string> = Operation extends { parameters: infer Parameters }
  ? In extends keyof Parameters
    ? NonNullable<Parameters[In]>
    : Record<never, never>
  : Record<never, never>;

type Json<Declared> = Declared extends { content: { "application/json": infer Value } } ? Value : undefined;
type Body<Operation> = Operation extends { requestBody?: unknown }
  ? Json<Operation["requestBody"]>
  : undefined;

export interface Request<Operation> {
  path: Part<Operation, "path">;
  query: Part<Operation, "query">;
  /** Those the operation declares. */
  headers: Part<Operation, "header">;
  body: Body<Operation>;
  /** The address as the caller wrote it, without the query, for example `http://ledger.test:8081/v1/transaction`. */
  url: string;
  /** Of the media types declared for status 200 the one the caller likes best; the first declared when it is all one. */
  mediaType: MediaType<Operation>;
  /** Aborts when the reply is not wanted any more: the caller has gone, or the service is stopping. */
  ended: AbortSignal;
  /** Who asks, where the operation wants to know and the service asks. */
  caller?: Caller | undefined;
  log: Logger;
}

/**
 * A declared failure is returned; what is thrown becomes a 500 that tells the caller nothing. Where the contract declares
 * an `ETag` for status 200, it is put on by the kernel, and so is the answer 304 where that is declared.
 */
export type Handler<Operation> = (request: Request<Operation>) => Promise<Reply<Operation>>;

export type Handlers<Operations> = { [Id in keyof Operations]: Handler<Operations[Id]> };
