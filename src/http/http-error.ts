import { type ErrorDetail, type Failure, messagesOf } from "./failure.ts";

/** An error response that is thrown. */
export class HttpError extends Error implements Failure {
  readonly status: number;
  readonly details: ErrorDetail[];
  readonly headers: Record<string, string>;
  readonly problem: string | undefined;

  constructor(
    status: number,
    details: ErrorDetail[],
    headers: Record<string, string> = {},
    problem?: string,
  ) {
    super(messagesOf({ details }).join("; "));
    this.status = status;
    this.details = details;
    this.headers = headers;
    this.problem = problem;
  }
}

/** The 404 for a path without an operation and without a document. */
export const unknownPath = (): HttpError => new HttpError(404, ["nothing is served at this path"]);

const retryAfter = { "retry-after": "1" };

/** A 503 with `Retry-After`: the service lacks something that it may have a second later. */
export const unavailable = (message: string, headers: Record<string, string> = {}): HttpError =>
  new HttpError(503, [message], { ...retryAfter, ...headers });

/** A 503 with `Retry-After`: there are too many requests, of this caller or of all. */
export const overloaded = (message: string): HttpError =>
  new HttpError(503, [message], retryAfter, "overloaded");

/** An error with a challenge, which has at least one parameter (RFC 6750, section 3). */
export function challenge(status: number, message: string, values: Record<string, string>): HttpError {
  const parameters = Object.entries(values).map(([name, value]) => `${name}="${value}"`);
  return new HttpError(status, [message], { "www-authenticate": `Bearer ${parameters.join(", ")}` });
}
