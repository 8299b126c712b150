/** One request and its response, however they are sent. */

import type { ResponseHead } from "./options.ts";

export interface HttpRequest {
  origin: string;
  /** Path and query. */
  path: string;
  method: string;
  headers: Headers;
  body: string | undefined;
  signal: AbortSignal;
}

export interface HttpResponse extends ResponseHead {
  /** The whole body. */
  text(): Promise<string>;
  /** The body as it arrives. Leaving the loop early closes the connection. */
  chunks(): AsyncIterable<Uint8Array>;
}

export interface Http {
  /** True if steps such as `..` in a path are resolved before it is sent. */
  resolvesPaths: boolean;
  /** Sends a request once. Redirects are not followed. Rejects if no response arrives. */
  send(request: HttpRequest): Promise<HttpResponse>;
}
