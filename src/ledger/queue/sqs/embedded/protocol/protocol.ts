import type { IncomingMessage } from "node:http";
import type { Input } from "./input.ts";
import type { SqsError } from "./sqs-error.ts";

export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A way in which clients of Amazon SQS write requests and read responses. */
export interface Protocol {
  /** Throws an `SqsError` if the request is malformed. */
  read(request: IncomingMessage, body: string): { operation: string; input: Input };
  result(requestId: string, operation: string, output: Record<string, unknown>): Reply;
  error(requestId: string, error: SqsError): Reply;
}
