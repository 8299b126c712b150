import type { components } from "../../generated/ledger.ts";

/** An error of the ledger (RFC 9457). */
export type Problem = components["schemas"]["Problem"];

/** Maximum number of characters of a response in an error message. */
const quotedMax = 500;

const afterAttempts = (attempts: number) => (attempts > 1 ? ` after ${attempts} attempts` : "");

/** A response that is not successful. */
export class ResponseError extends Error {
  override readonly name = "ResponseError";
  /** The operation that was called. */
  readonly operationId: string;
  /** The HTTP status. */
  readonly status: number;
  readonly headers: Headers;
  /** The body as text. */
  readonly text: string;
  /** The problem document, if the body is one. */
  readonly problem: Problem | undefined;
  /** The number of requests that were sent. */
  readonly attempts: number;

  constructor(
    operationId: string,
    { status, headers, text, attempts }: Pick<ResponseError, "status" | "headers" | "text" | "attempts">,
    options?: ErrorOptions,
  ) {
    const problem = readProblem(text);
    const detail = problem?.detail ?? text.trim().slice(0, quotedMax);
    super(`${operationId} returned ${status}${afterAttempts(attempts)}${detail && `: ${detail}`}`, options);
    this.operationId = operationId;
    this.status = status;
    this.headers = headers;
    this.text = text;
    this.problem = problem;
    this.attempts = attempts;
  }
}

function readProblem(text: string): Problem | undefined {
  try {
    const value = JSON.parse(text) as Problem | null;
    return value?.error_identifier === undefined ? undefined : value;
  } catch {
    return undefined;
  }
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
