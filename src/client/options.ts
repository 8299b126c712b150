export interface ClientOptions {
  /** The URL of the service, for example `http://127.0.0.1:8081`. Its path is a prefix of every path of the contract. */
  baseUrl: string | URL;
  /**
   * The bearer token of every call; a function is called for each. If the response is 401, a function is called once more
   * with `refresh: true`, and the call is repeated with a token that differs. Default: none.
   */
  token?: string | ((request: { refresh: boolean }) => string | Promise<string>);
  /**
   * Limit for a call in milliseconds, from the token to the end of the response, retries included. `Infinity` is no limit.
   * Default: 30,000.
   */
  timeoutMs?: number;
  /** Maximum number of retries after a connection error, 429, 502, 503 or 504. Default: 2. */
  retries?: number;
  /** Headers of every call. */
  headers?: Record<string, string>;
  /** Sends the requests. Default: undici in Node.js, the global `fetch` elsewhere. */
  fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  /** Ends the call when it aborts. */
  signal?: AbortSignal;
  /** Limit for this call in milliseconds. Default: that of the client. */
  timeoutMs?: number;
  /** Headers of this call, which replace those of the client. */
  headers?: Record<string, string>;
  /** Receives the head of every response, also before a retry, before the body is read. It contains the `ETag`. */
  onResponse?: (response: ResponseHead) => void;
}

export interface ResponseHead {
  status: number;
  headers: Headers;
}
