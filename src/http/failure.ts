import type { PatchOperation } from "../contract/faults.ts";

/** A fault of a request, as in `errors` of a problem document. It has one place: a parameter, a header or a JSON pointer. */
export interface RequestFault {
  parameter?: string;
  header?: string;
  pointer?: string;
  /** The broken rule with its value: `{ maximum: 500 }`. */
  rule: Record<string, unknown>;
  /** A sentence that names the place. */
  detail: string;
  /** The only safe correction: of the body for a pointer, otherwise of the object of all parameters or headers as texts. */
  remedy?: PatchOperation[];
}

/** A part of an error response: a sentence, or a fault of the request. */
export type ErrorDetail = string | RequestFault;

/** An error that an operation declares, without its format. Its details are safe for the caller. */
export interface Failure<Status extends number = number> {
  status: Status;
  details: ErrorDetail[];
  /** The kind of the problem in the contract. Default: the first with the status. */
  problem?: string | undefined;
}

/** A declared error, for handlers to return. */
export const failure = <Status extends number>(
  status: Status,
  ...details: ErrorDetail[]
): Failure<Status> => ({
  status,
  details,
});

/** The sentences of an error response, one for each detail. */
export const messagesOf = ({ details }: Pick<Failure, "details">): string[] =>
  details.map((one) => (typeof one === "string" ? one : one.detail));

/** A fault of a query parameter. */
export const parameterFault = (
  parameter: string,
  rule: Record<string, unknown>,
  detail: string,
): RequestFault => ({ parameter, rule, detail });

/** A fault of the body as a whole. */
export const bodyFault = (rule: Record<string, unknown>, detail: string): RequestFault => ({
  pointer: "",
  rule,
  detail,
});
