// Generated from openapi/*.yaml by npm run codegen. Do not edit.

import { ResponseError } from "../src/client/response-error.ts";

/** The request does not conform to the contract (`/problems/invalid-request`, status 400). */
export class InvalidRequestError extends ResponseError {
  override readonly name: string = "InvalidRequestError";
}

/** A resource would have too many features (`/problems/too-many-features`, status 400). */
export class TooManyFeaturesError extends ResponseError {
  override readonly name: string = "TooManyFeaturesError";
}

/** The request has no valid token (`/problems/unauthorized`, status 401). */
export class UnauthorizedError extends ResponseError {
  override readonly name: string = "UnauthorizedError";
}

/** The token does not permit the request (`/problems/forbidden`, status 403). */
export class ForbiddenError extends ResponseError {
  override readonly name: string = "ForbiddenError";
}

/** The request is from a page of another origin (`/problems/cross-origin`, status 403). */
export class CrossOriginError extends ResponseError {
  override readonly name: string = "CrossOriginError";
}

/** Nothing matches the request (`/problems/not-found`, status 404). */
export class NotFoundError extends ResponseError {
  override readonly name: string = "NotFoundError";
}

/** The path does not have this method (`/problems/method-not-allowed`, status 405). */
export class MethodNotAllowedError extends ResponseError {
  override readonly name: string = "MethodNotAllowedError";
}

/** The request took too long to arrive (`/problems/request-timeout`, status 408). */
export class RequestTimeoutError extends ResponseError {
  override readonly name: string = "RequestTimeoutError";
}

/** The cursor no longer has a place in the feed (`/problems/cursor-gone`, status 410). */
export class CursorGoneError extends ResponseError {
  override readonly name: string = "CursorGoneError";
}

/** The list has changed (`/problems/precondition-failed`, status 412). */
export class PreconditionFailedError extends ResponseError {
  override readonly name: string = "PreconditionFailedError";
}

/** The body is larger than 1 MiB (`/problems/body-too-large`, status 413). */
export class BodyTooLargeError extends ResponseError {
  override readonly name: string = "BodyTooLargeError";
}

/** The body is not JSON in UTF-8 (`/problems/unsupported-media-type`, status 415). */
export class UnsupportedMediaTypeError extends ResponseError {
  override readonly name: string = "UnsupportedMediaTypeError";
}

/** The service does not have this host (`/problems/misdirected`, status 421). */
export class MisdirectedError extends ResponseError {
  override readonly name: string = "MisdirectedError";
}

/** The header If-Match is required (`/problems/precondition-required`, status 428). */
export class PreconditionRequiredError extends ResponseError {
  override readonly name: string = "PreconditionRequiredError";
}

/** The headers are too large (`/problems/headers-too-large`, status 431). */
export class HeadersTooLargeError extends ResponseError {
  override readonly name: string = "HeadersTooLargeError";
}

/** The store failed (`/problems/store-failed`, status 500). */
export class StoreFailedError extends ResponseError {
  override readonly name: string = "StoreFailedError";
}

/** An unexpected error occurred (`/problems/unexpected`, status 500). */
export class UnexpectedError extends ResponseError {
  override readonly name: string = "UnexpectedError";
}

/** The service is unavailable (`/problems/unavailable`, status 503). */
export class UnavailableError extends ResponseError {
  override readonly name: string = "UnavailableError";
}

/** Too many requests are in flight (`/problems/overloaded`, status 503). */
export class OverloadedError extends ResponseError {
  override readonly name: string = "OverloadedError";
}

/** The ledger has no such position (`/problems/position-unknown`, status 410). */
export class PositionUnknownError extends ResponseError {
  override readonly name: string = "PositionUnknownError";
}

/** The database exceeded the time limit (`/problems/too-slow`, status 504). */
export class TooSlowError extends ResponseError {
  override readonly name: string = "TooSlowError";
}

/** The classes by kind of problem. */
export const problemErrors: Record<string, typeof ResponseError> = {
  "invalid-request": InvalidRequestError,
  "too-many-features": TooManyFeaturesError,
  "unauthorized": UnauthorizedError,
  "forbidden": ForbiddenError,
  "cross-origin": CrossOriginError,
  "not-found": NotFoundError,
  "method-not-allowed": MethodNotAllowedError,
  "request-timeout": RequestTimeoutError,
  "cursor-gone": CursorGoneError,
  "precondition-failed": PreconditionFailedError,
  "body-too-large": BodyTooLargeError,
  "unsupported-media-type": UnsupportedMediaTypeError,
  "misdirected": MisdirectedError,
  "precondition-required": PreconditionRequiredError,
  "headers-too-large": HeadersTooLargeError,
  "store-failed": StoreFailedError,
  "unexpected": UnexpectedError,
  "unavailable": UnavailableError,
  "overloaded": OverloadedError,
  "position-unknown": PositionUnknownError,
  "too-slow": TooSlowError,
};
