import { ConnectionError, ResponseError } from "./errors.ts";
import type { Http, HttpRequest, HttpResponse } from "./http.ts";
import { openLimit, sleep, within } from "./limit.ts";
import type { ClientOperation } from "./operation.ts";
import type { CallOptions, ClientOptions, ResponseHead } from "./options.ts";
import { retryDelayMs } from "./retry.ts";

const defaultTimeoutMs = 30_000;
const defaultRetries = 2;

/**
 * Opens a call, which sends its request until it succeeds or fails. It must be closed. It fails if nothing arrives for
 * `silenceMaxMs` while a part of the response is awaited.
 */
export function openCall(
  http: Http,
  { operationId, isIdempotent, successes }: ClientOperation,
  request: Omit<HttpRequest, "signal">,
  { token, retries = defaultRetries, timeoutMs: clientTimeoutMs = defaultTimeoutMs }: ClientOptions,
  { signal: callerSignal, timeoutMs = clientTimeoutMs, onResponse }: CallOptions,
  silenceMaxMs = Number.POSITIVE_INFINITY,
) {
  let attempts = 0;
  const timeoutMessage = () => `${operationId} timed out after ${timeoutMs} ms (attempts: ${attempts})`;
  const limit = openLimit(timeoutMs, callerSignal, timeoutMessage);
  const { signal } = limit;

  /** The error of the call if its connection fails or its limit ends it. */
  const brokenBy = (cause: unknown) =>
    signal.aborted ? signal.reason : new ConnectionError(operationId, attempts, cause as Error);

  /** Begins to wait for a part of the response. The returned function ends it. */
  function expectPart(): () => void {
    if (silenceMaxMs === Number.POSITIVE_INFINITY) return () => {};
    const silence = () => new Error(`nothing has arrived for ${silenceMaxMs} ms`);
    const timer = setTimeout(() => limit.abort(brokenBy(silence())), silenceMaxMs);
    return () => clearTimeout(timer);
  }

  /** The body as it arrives. */
  async function* partsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
    let endWait = expectPart();
    try {
      for await (const part of body) {
        endWait();
        // Its reader may take any time.
        yield part;
        endWait = expectPart();
      }
    } catch (cause) {
      throw brokenBy(cause);
    } finally {
      endWait();
    }
  }

  const receive = <Part>(part: Promise<Part>): Promise<Part> =>
    part.catch((cause) => {
      throw brokenBy(cause);
    });

  const failure = ({ status, headers }: ResponseHead, text: string, cause?: ErrorOptions) =>
    new ResponseError(operationId, { status, headers, text, attempts }, cause);

  /** Sets the token and returns whether it has changed. */
  async function authorize(refresh: boolean): Promise<boolean> {
    const bearer = typeof token === "function" ? await within(signal, token({ refresh })) : token;
    const before = request.headers.get("authorization");
    if (bearer) request.headers.set("authorization", `Bearer ${bearer}`);
    return request.headers.get("authorization") !== before;
  }

  async function attempt<Body>(read: (response: HttpResponse) => Promise<Body>) {
    attempts += 1;
    const endWait = expectPart();
    const response = await receive(http.send({ ...request, signal })).finally(endWait);
    onResponse?.({ status: response.status, headers: response.headers });
    const content = successes[response.status];
    if (content === undefined) throw failure(response, await receive(response.text()));
    return { response, content, body: await receive(read(response)) };
  }

  /** Sends the request, again after transient errors and once with a new token, until `read` has read the body. */
  async function send<Body>(read: (response: HttpResponse) => Promise<Body>) {
    signal.throwIfAborted();
    await authorize(false);
    let hasRefreshed = typeof token !== "function";
    let retry = 0;
    for (;;) {
      try {
        return await attempt(read);
      } catch (error) {
        if (!(error instanceof ResponseError || error instanceof ConnectionError)) {
          limit.abort(error); // After an error of `onResponse` nobody reads the response.
          throw error;
        }
        if (!hasRefreshed && error instanceof ResponseError && error.status === 401) {
          hasRefreshed = true;
          if (await authorize(true)) continue;
        }
        retry += 1;
        const delayMs = isIdempotent && retry <= retries ? retryDelayMs(error, retry) : undefined;
        if (delayMs === undefined || delayMs >= limit.remainingMs()) throw error;
        await sleep(delayMs, signal);
      }
    }
  }

  return { send, partsOf, failure, brokenBy, close: limit.release };
}
