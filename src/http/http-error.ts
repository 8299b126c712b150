/** A request that is turned away before its handler: a status, and one text for each fault, safe to show. */
export class Refusal extends Error {
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

/** For now: what is asked a little later may be answered. */
export const unavailable = (message: string, headers: Record<string, string> = {}): Refusal =>
  new Refusal(503, [message], { "retry-after": "1", ...headers });
