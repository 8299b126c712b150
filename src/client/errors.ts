import { problemErrors } from "../../generated/problem-errors.ts";
import { afterAttempts, ResponseError, readProblem } from "./response-error.ts";

/** The error for a response, of the class of its problem. A kind that this client does not know is a `ResponseError`. */
export function responseError(...given: ConstructorParameters<typeof ResponseError>): ResponseError {
  const [, { text }] = given;
  const kind = readProblem(text)?.type.split("/").at(-1) ?? "";
  const ErrorOfKind = (Object.hasOwn(problemErrors, kind) && problemErrors[kind]) || ResponseError;
  return new ErrorOfKind(...given);
}

/** No response, or a part of one. The cause is the error of `fetch` or undici; whether the service did the work is unknown. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  /** The operation that was called. */
  readonly operationId: string;
  /** The number of requests that were sent. */
  readonly attempts: number;

  constructor(operationId: string, attempts: number, cause: Error & { code?: string }) {
    // undici has no message if each address of a host fails.
    const detail = cause.message || cause.code;
    super(`${operationId} got no complete response${afterAttempts(attempts)}: ${detail}`, { cause });
    this.operationId = operationId;
    this.attempts = attempts;
  }
}
