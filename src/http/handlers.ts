import type { ParametersIn, RequestBody } from "../contract/operation-types.ts";
import type { Logger } from "../process/log.ts";
import type { JsonBytes } from "../values/json-output.ts";
import type { Owner } from "../waiting/owner.ts";
import type { Caller } from "./access/security.ts";
import type { TaggedParts } from "./entity-tag.ts";
import type { Failure } from "./failure.ts";

/**
 * The types of handlers, derived from the `operations` that openapi-typescript generates from a contract. A handler gets
 * what its operation declares, returns one of the declared responses, and never sees the framework.
 */
export type Handlers<Operations> = { [Id in keyof Operations]: Handler<NonNullable<Operations[Id]>> };

/**
 * Returns a declared error as a `Failure`; throwing anything gives the caller a 500 without details. The kernel adds `ETag`
 * and the status 304 where the operation declares them.
 */
export type Handler<Operation> = (request: Request<Operation>) => Promise<Response<Operation>>;

/** An operation with `x-body-as-text`: its handler gets the body as text, not validated. */
export type WithTextBody<Operation> = Omit<Operation, "requestBody"> & {
  requestBody: { content: { "application/json": string } };
};

export interface Request<Operation> {
  path: ParametersIn<Operation, "path">;
  query: ParametersIn<Operation, "query">;
  /** The declared headers. */
  headers: ParametersIn<Operation, "header">;
  body: RequestBody<Operation>;
  /** True if the parameters of `query` were in the body of a QUERY, so that a URL cannot repeat them. */
  parametersInBody: boolean;
  /** The URL that the caller sent, without the query, for example `http://ledger.test:8081/v1/transaction`. */
  url: string;
  /** The URL under which the caller reaches the service, without a slash at its end. */
  serviceUrl: string;
  /** The media type of status 200 that the caller prefers. On a tie in `Accept` its first; for any type the first declared. */
  mediaType: MediaType<Operation>;
  /** Aborts when the caller has disconnected and when the service is stopping. */
  signal: AbortSignal;
  /** The authenticated caller; undefined if the service runs without authentication. */
  caller?: Caller | undefined;
  /** The caller as the owner of shares. */
  owner: Owner;
  log: Logger;
}

/** A response: one variant for each declared status and media type. The type `application/json` is the default. */
export type Response<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Status in keyof Responses]: WithContent<Status, Responses[Status]> & {
        headers?: HeadersOf<Responses[Status]>;
      };
    }[keyof Responses]
  : never;

type WithContent<Status, Declared> = Declared extends { content: infer Content }
  ? { [Type in keyof Content]: WithBody<Status, Type, Content[Type]> }[keyof Content]
  : { status: Status; type?: never; body?: never };

/**
 * JSON can be its bytes, as can lines of JSON. A text can be an iterable of texts, or of their bytes, and a JSON array one of
 * its parts, which are sent as they are produced.
 */
type WithBody<Status, Type, Body> = Type extends "application/json"
  ? {
      status: Status;
      type?: never;
      body: Body | JsonBytes<Body> | (Body extends unknown[] ? AsyncIterable<Body> : never);
      /** What the entity tag is made of. Default: the body. */
      tagged?: TaggedParts;
    }
  : Type extends "application/problem+json"
    ? Failure<Status & number>
    : {
        status: Status;
        type: Type;
        body: Type extends `text/${string}`
          ? Body | AsyncIterable<Body | Buffer>
          : Body | (Type extends "application/x-ndjson" ? Buffer : never);
      };

/** The declared headers, without the index signature that openapi-typescript adds for all others. */
type HeadersOf<Declared> = Declared extends { headers: infer Headers }
  ? { [Name in keyof Headers as string extends Name ? never : Name]?: Headers[Name] }
  : never;

type MediaType<Operation> = Operation extends { responses: { 200: { content: infer Content } } }
  ? keyof Content
  : never;
