import type * as features from "../../generated/features.ts";
import type * as ledger from "../../generated/ledger.ts";

/** An error of a service (RFC 9457). One of the ledger has two more members. */
export type Problem = features.components["schemas"]["Problem"] &
  Partial<ledger.components["schemas"]["Problem"]>;

/** Maximum number of characters of a response in an error message. */
const quotedMax = 500;

export const afterAttempts = (attempts: number) => (attempts > 1 ? ` after ${attempts} attempts` : "");

/** A response that is not successful. With a problem document it is of a class of its own for the kind of problem. */
export class ResponseError extends Error {
  override readonly name: string = "ResponseError";
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

/** The problem document that a body is; undefined if it is something else. */
export function readProblem(text: string): Problem | undefined {
  try {
    const value = JSON.parse(text) as Problem | null;
    return /\/problems\/[\w-]+$/.test(String(value?.type)) ? (value as Problem) : undefined;
  } catch {
    return undefined;
  }
}
