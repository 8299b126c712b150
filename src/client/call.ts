import { ConnectionError, responseError } from "./errors.ts";
import type { Http, HttpRequest, HttpResponse } from "./http.ts";
import { type Limit, sleep, within } from "./limit.ts";
import type { ClientOperation } from "./operation.ts";
import type { CallOptions, ClientOptions, ResponseHead } from "./options.ts";
import { ResponseError } from "./response-error.ts";
import { retryDelayMs } from "./retry.ts";

const defaultRetries = 2;

/** A call, which sends its request until it succeeds or fails. Its limit must be released. */
export interface Call extends Pick<CallOptions, "onResponse"> {
  http: Http;
  client: ClientOptions;
  operation: ClientOperation;
  request: Omit<HttpRequest, "signal">;
  /** The call fails if nothing arrives for so long while a part of the response is awaited. */
  silenceMaxMs: number;
  limit: Limit;
  /** The number of requests that were sent. */
  attempts: number;
}

/** Sends the request, again after transient errors and once with a new token, until `read` has read the body. */
export async function send<Body>(call: Call, read: (response: HttpResponse) => Promise<Body>) {
  const { operation, limit } = call;
  const { token, retries = defaultRetries } = call.client;
  limit.signal.throwIfAborted();
  await authorize(call, false);
  let hasRefreshed = typeof token !== "function";
  let retry = 0;
  for (;;) {
    try {
      return await attempt(call, read);
    } catch (error) {
      if (!(error instanceof ResponseError || error instanceof ConnectionError)) {
        limit.abort(error); // After an error of `onResponse` nobody reads the response.
        throw error;
      }
      if (!hasRefreshed && error instanceof ResponseError && error.status === 401) {
        hasRefreshed = true;
        if (await authorize(call, true)) continue;
      }
      retry += 1;
      const delayMs =
        operation.isIdempotent !== false && retry <= retries ? retryDelayMs(error, retry) : undefined;
      if (delayMs === undefined || delayMs >= limit.remainingMs()) throw error;
      await sleep(delayMs, limit.signal);
    }
  }
}

async function attempt<Body>(call: Call, read: (response: HttpResponse) => Promise<Body>) {
  const { http, operation, request, limit } = call;
  call.attempts += 1;
  const receive = <Part>(part: Promise<Part>): Promise<Part> =>
    part.catch((cause) => {
      throw brokenBy(call, cause);
    });
  const endWait = expectPart(call);
  const response = await receive(http.send({ ...request, signal: limit.signal })).finally(endWait);
  call.onResponse?.({ status: response.status, headers: response.headers });
  const content = operation.successes[response.status];
  if (content === undefined) throw failureOf(call, response, await receive(response.text()));
  return { response, content, body: await receive(read(response)) };
}

/** Sets the token and returns whether it has changed. */
async function authorize({ client, request: { headers }, limit }: Call, refresh: boolean): Promise<boolean> {
  const { token } = client;
  const bearer = typeof token === "function" ? await within(limit.signal, token({ refresh })) : token;
  const before = headers.get("authorization");
  if (bearer) headers.set("authorization", `Bearer ${bearer}`);
  return headers.get("authorization") !== before;
}

/** The body as it arrives. */
export async function* partsOf(call: Call, body: AsyncIterable<Uint8Array>) {
  let endWait = expectPart(call);
  try {
    for await (const part of body) {
      endWait();
      // Its reader may take any time.
      yield part;
      endWait = expectPart(call);
    }
  } catch (cause) {
    throw brokenBy(call, cause);
  } finally {
    endWait();
  }
}

/** Begins to wait for a part of the response. The returned function ends it. */
function expectPart(call: Call): () => void {
  const { silenceMaxMs, limit } = call;
  if (silenceMaxMs === Number.POSITIVE_INFINITY) return () => {};
  const silence = () => new Error(`nothing has arrived for ${silenceMaxMs} ms`);
  const timer = setTimeout(() => limit.abort(brokenBy(call, silence())), silenceMaxMs);
  return () => clearTimeout(timer);
}

/** The error of a call if its connection fails or its limit ends it. */
export const brokenBy = ({ operation, attempts, limit: { signal } }: Call, cause: unknown) =>
  signal.aborted ? signal.reason : new ConnectionError(operation.operationId, attempts, cause as Error);

/** The error of a call whose response is not successful, or has an invalid body. */
export const failureOf = (
  { operation, attempts }: Call,
  { status, headers }: ResponseHead,
  text: string,
  cause?: ErrorOptions,
) => responseError(operation.operationId, { status, headers, text, attempts }, cause);
