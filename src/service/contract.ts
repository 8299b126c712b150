import type { Logger } from "./log.ts";

/**
 * The types a contract gives to its handlers. A handler takes what its operation declares, answers with one of the
 * replies its operation declares, and never sees the framework.
 */

type Answer<Status, Type, Body> = Type extends "application/json"
  ? { status: Status; type?: never; body: Body }
  : { status: Status; type: Type; body: Body };

type Answers<Status, Response> = Response extends { content: infer Content }
  ? { [Type in keyof Content]: Answer<Status, Type, Content[Type]> }[keyof Content]
  : { status: Status; type?: never; body?: never };

/** What a handler may answer: one variant for each declared status and media type; JSON need not be named. */
export type Reply<Operation> = Operation extends { responses: infer Responses }
  ? { [Status in keyof Responses]: Answers<Status, Responses[Status]> }[keyof Responses]
  : never;

type Part<Operation, In extends string> = Operation extends { parameters: infer Parameters }
  ? In extends keyof Parameters
    ? NonNullable<Parameters[In]>
    : Record<never, never>
  : Record<never, never>;

type Body<Operation> = Operation extends { requestBody?: infer Declared }
  ? NonNullable<Declared> extends { content: { "application/json": infer Json } }
    ? Json
    : undefined
  : undefined;

export interface Request<Operation> {
  path: Part<Operation, "path">;
  query: Part<Operation, "query">;
  body: Body<Operation>;
  /** Scheme and authority as the caller wrote them, for example `http://ledger.test:8081`. */
  origin: string;
  log: Logger;
}

/** A declared failure is returned; what is thrown becomes a 500 that tells the caller nothing. */
export type Handler<Operation> = (request: Request<Operation>) => Promise<Reply<Operation>>;

export type Handlers<Operations> = { [Id in keyof Operations]: Handler<Operations[Id]> };
