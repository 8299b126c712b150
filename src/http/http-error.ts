/** An error response: its status, and one message for each error in the request. The messages are safe for a caller. */
export class HttpError extends Error {
  readonly status: number;
  readonly messages: string[];
  readonly headers: Record<string, string>;

  constructor(status: number, messages: string[], headers: Record<string, string> = {}) {
    super(messages.join("; "));
    this.status = status;
    this.messages = messages;
    this.headers = headers;
  }
}

/** A 503 with `Retry-After`: the request may succeed a second later. */
export const unavailable = (message: string, headers: Record<string, string> = {}): HttpError =>
  new HttpError(503, [message], { "retry-after": "1", ...headers });

/** An error with a challenge, which has at least one parameter (RFC 6750, section 3). */
export function challenge(status: number, message: string, values: Record<string, string>): HttpError {
  const parameters = Object.entries(values).map(([name, value]) => `${name}="${value}"`);
  return new HttpError(status, [message], { "www-authenticate": `Bearer ${parameters.join(", ")}` });
}
