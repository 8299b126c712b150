import type { FastifyReply } from "fastify";
import type { Logger } from "../process/log.ts";
import { isJson, toJson } from "../values/json.ts";
import type { Failure } from "./failure.ts";
import { HttpError } from "./http-error.ts";
import { STATUS_CODES } from "./node-http.ts";
import { completeProblem } from "./problem.ts";
import { sendBody } from "./response.ts";
import { varyBy } from "./vary.ts";

/** The content of an error response. */
export interface ErrorContent {
  /** Media type. */
  type: string;
  body: unknown;
  /** True if the type depends on the header `Accept`. */
  isNegotiated?: boolean;
}

/** The route of a failed request in the form of the router, and its path parameters and its header `Accept`. */
export interface FailedRequest {
  route: string | undefined;
  path: object;
  accept: string | undefined;
}

/** Writes an error in the format of a service. The request is undefined if it could not be read. */
export type RenderError = (failure: Failure, request?: FailedRequest) => ErrorContent;

/** Sends a failure in the format of the service. */
export type SendFailure = ReturnType<typeof failureSender>;

export const failureSender =
  (renderError: RenderError, log: Logger) =>
  (reply: FastifyReply, failed: FailureWithHeaders): FastifyReply => {
    const { type, body } = prepareFailure(reply, renderError, failed);
    return sendBody(reply, type, body, log);
  };

type FailureWithHeaders = Failure & { headers?: Record<string, string> | undefined };

/** Makes the status and the headers of a response those of a failure. Returns the type and the body for it. */
function prepareFailure(
  reply: FastifyReply,
  renderError: RenderError,
  failed: FailureWithHeaders,
): ErrorContent {
  const { routeOptions, params, headers } = reply.request;
  const request = { route: routeOptions.url, path: params as object, accept: headers.accept };
  const content = renderError(failed, request);
  if (content.isNegotiated) varyBy(reply, "accept");
  reply.code(failed.status);
  if (failed.headers) reply.headers(failed.headers);
  return content;
}

/** Makes a response that is being sent that of a failure. Returns its text. */
export function failureText(
  reply: FastifyReply,
  renderError: RenderError,
  failed: FailureWithHeaders,
): string {
  const { type, body } = prepareFailure(reply, renderError, failed);
  reply.type(`${type}; charset=utf-8`);
  if (!isJson(type)) return String(body);
  return toJson(completeProblem(type, body, reply.request.id, reply.server.publicUrl));
}

export const bodyMustBeJson = "the content type of the body must be application/json";

const frameworkMessages: Record<string, string> = {
  FST_ERR_BAD_URL: "malformed percent-encoding in the path",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: bodyMustBeJson,
  FST_ERR_CTP_BODY_TOO_LARGE: "the body is larger than 1 MiB",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "the length of the body differs from its content-length",
};

/**
 * Unwraps the error in which the binder collects what each alternative of an operation's security has thrown. An
 * unexpected error comes first. Among HTTP errors the highest status decides: a caller who is authenticated but not
 * authorised gets 403, not the 401 of another scheme.
 */
export function unwrapSecurityError(error: unknown): unknown {
  const { name, errors } = error as { name?: string; errors?: unknown[] };
  if (name !== "Unauthorized" || errors === undefined) return error;
  const httpErrors = errors.filter((one) => one instanceof HttpError);
  if (httpErrors.length < errors.length) return errors.find((one) => !(one instanceof HttpError));
  const status = Math.max(...httpErrors.map((one) => one.status));
  const deciding = httpErrors.filter((one) => one.status === status);
  const details = new Set(deciding.flatMap((one) => one.details));
  return new HttpError(status, [...details], deciding[0]?.headers, deciding[0]?.problem);
}

/** The response to an error: HTTP errors as they are, the framework's errors in plain words, and 500 for all others. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  const { code: given, statusCode = 500 } = error as { code?: unknown; statusCode?: number };
  const code = String(given); // The code of a DOMException is a number.
  const message = frameworkMessages[code] ?? (code.startsWith("FST_") ? STATUS_CODES[statusCode] : undefined);
  if (message !== undefined && statusCode < 500) return new HttpError(statusCode, [message]);
  return new HttpError(500, ["an unexpected error occurred; it is in the log"], {}, "unexpected");
}
