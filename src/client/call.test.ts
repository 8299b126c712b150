import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { defaults } from "../../generated/features.defaults.ts";
import { operations as featuresOperations } from "../../generated/features.operations.ts";
import type { operations as Operations } from "../../generated/features.ts";
import { openCalls } from "./calls.ts";
import {
  type CallOptions,
  type ClientOptions,
  type FeaturesClient,
  featuresClient,
  type LedgerClient,
  ledgerClient,
} from "./client.ts";

// No request leaves this process, so the time is that of the test: nothing passes it but its timers.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

interface Sent extends RequestInit {
  url: string;
  headers: Headers;
  signal: AbortSignal;
}
type Answer = (request: Sent) => Promise<object>;

const streamed = (status: number, pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>) => ({
  status,
  headers: new Headers(),
  body: ReadableStream.from(pieces),
});
const answer =
  (body: string, status = 200, headers = {}): Answer =>
  async () => ({
    ...streamed(status, [Buffer.from(body)]),
    headers: new Headers(headers),
    text: async () => body,
  });
const broken: Answer = () => Promise.reject(new TypeError("fetch failed"));
/** Rejects when the client ends the request. */
const never: Answer = ({ signal }) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
/** A stream of these pieces, each after a time, which then does what `end` does. */
const stream =
  (pieces: [afterMs: number, text: string][], end: (request: Sent) => unknown = () => {}): Answer =>
  async (request) => {
    async function* bytes() {
      for (const [afterMs, text] of pieces) {
        const passed = new Promise((resolve) => setTimeout(resolve, afterMs));
        await Promise.race([passed, never(request)]);
        yield Buffer.from(text);
      }
      await end(request);
    }
    return streamed(200, bytes());
  };

/** Clients of a service that gives these answers in turn, the last one again and again, and the requests to it. */
function openClients(...answers: Answer[]) {
  const sent: Sent[] = [];
  const fetch = async (url: string, options: object) => {
    const request = { url, ...options } as Sent;
    // The headers of a call are the same object in each attempt.
    sent.push({ ...request, headers: new Headers(request.headers) });
    const next = answers.length > 1 ? answers.shift() : answers[0];
    return await next?.(request);
  };
  const by = { baseUrl: "http://host/path//", fetch: fetch as typeof globalThis.fetch };
  const features = (options: Partial<ClientOptions> = {}) => featuresClient({ ...by, ...options });
  return {
    by,
    sent,
    features,
    ledger: ledgerClient(by),
    list: (options?: CallOptions, client?: Partial<ClientOptions>) =>
      features(client).listFeatures({ ...target, "If-None-Match": undefined }, options),
  };
}
const target = { resource: "customer", id: "42" };

/** The result or the error of a call, and its duration on the clock of the test. */
async function outcomeOf(call: Promise<unknown>) {
  const start = performance.now();
  const ended = call.then(
    (result) => ({ result, error: undefined as never, ms: performance.now() - start }),
    (error) => ({ result: undefined, error, ms: performance.now() - start }),
  );
  await vi.runAllTimersAsync();
  return ended;
}
const errorOf = async (call: Promise<unknown>) => (await outcomeOf(call)).error;

describe("a request", () => {
  test("has the token of the client; a token function is called for each call", async () => {
    const { list, sent } = openClients(answer("[]"));
    let count = 0;
    const token = async () => `t${++count}`;
    for (const client of [{ token }, { token }, { token: "fixed" }, { token: "" }, {}]) {
      await list({}, client);
    }
    const tokens = sent.map(({ headers }) => headers.get("authorization"));
    expect(tokens).toEqual(["Bearer t1", "Bearer t2", "Bearer fixed", null, null]);
  });

  test("has the headers of the client; those of the call and of the contract come first", async () => {
    const { list, sent } = openClients(answer("[]"));
    const headers = { "X-Request-Id": "1", Accept: "text/html", Traceparent: "a" };
    await list({}, { headers, token: "t" });
    await list({ headers: { "x-request-id": "2", authorization: "Basic" } }, { headers, token: "t" });
    const common = { accept: "application/json", authorization: "Bearer t", traceparent: "a" };
    expect(sent.map((request) => Object.fromEntries(request.headers))).toEqual([
      { ...common, "x-request-id": "1" },
      { ...common, "x-request-id": "2" },
    ]);
  });

  test("has the given parameters and no others, below the path of the base URL", async () => {
    const { ledger, sent } = openClients(answer("{}"));
    const search = { account_id: ["57", "5&8"], limit_total: false, page: 2, email: undefined };
    await ledger.searchTransactions(search);
    await ledger.searchTransactions();
    expect(sent.map(({ url }) => url)).toEqual([
      "http://host/path/v1/transaction/?account_id=57%2C5%268&limit_total=false&page=2",
      "http://host/path/v1/transaction/",
    ]);
  });

  test("by fetch has every name but those that fetch cannot send", async () => {
    const { features, sent } = openClients(answer("[]"));
    const names = ["...", "%2e%2e", "a/..", "~!*()'", " .", "\0", '|^`{}"<>', "ü💷", "?#&=+;:@,$[]\\"];
    for (const id of names) await features().listFeatures({ resource: id, id });
    const paths = sent.map(({ url }) => new URL(url).pathname);
    expect(paths).toEqual(names.map(encodeURIComponent).map((name) => `/path/features/${name}/${name}`));
    for (const dots of [{ id: ".." }, { resource: "." }]) {
      const error = await errorOf(features().listFeatures({ ...target, ...dots }));
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toBe('listFeatures: fetch cannot send a name that is "." or ".."');
    }
  });

  test.each<[string, (client: FeaturesClient, ledger: LedgerClient) => Promise<unknown>]>([
    ["hasFeature requires feature", (client) => client.hasFeature({ ...target, feature: "" })],
    ["listFeatures requires id", (client) => client.listFeatures({ resource: "a" } as never)],
    [
      "account_id must not contain a comma",
      (_, ledger) => ledger.searchTransactions({ account_id: ["a,b"] }),
    ],
  ])("is not sent with invalid arguments: %s", async (message, call) => {
    const { features, ledger, sent } = openClients(answer("[]"));
    const error = await errorOf(call(features(), ledger));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain(message);
    expect(sent).toEqual([]);
  });

  test.each(["ftp://127.0.0.1", "http://user:secret@127.0.0.1", "http://127.0.0.1?x=1", "127.0.0.1:80"])(
    "cannot have the base URL %s",
    (baseUrl) => {
      expect(() => featuresClient({ baseUrl })).toThrow(TypeError);
    },
  );
});

describe("a response", () => {
  test.each([
    ["not JSON", 200, "<html></html>"],
    ["a redirect", 302, "[]"],
    ["an undeclared success status", 206, "[]"],
    ["an error without a problem document", 400, '{"status":400,"detail":"why"}'],
    ["an error in plain text", 400, "why\n"],
    ["an error with a problem of a proxy", 404, '{"type":"about:blank","title":"Not Found","status":404}'],
  ])("that is undeclared is an error: %s", async (_, status, text) => {
    expect(await errorOf(openClients(answer(text, status)).list())).toMatchObject({
      name: "ResponseError",
      status,
      text,
      problem: undefined,
      message: `listFeatures returned ${status}: ${text.trim()}`,
      ...(status === 200 && { cause: expect.any(SyntaxError) }),
    });
  });

  test("is quoted in an error message with at most 500 characters", async () => {
    const error = await errorOf(openClients(answer("x".repeat(100_000), 500)).list());
    expect([error.message.length < 600, error.text.length]).toEqual([true, 100_000]);
  });

  test("has a bigint where the contract requires it, and a number elsewhere", async () => {
    const { ledger } = openClients(answer('{"events":[{"event_id":17,"data":{"event_id":17}}]}'));
    const call = { transactionExternalId: "a", gateway_account_id: "57" };
    const { events } = await ledger.listTransactionEvents(call);
    expect([events[0]?.event_id, events[0]?.data.event_id]).toEqual([17n, 17]);
  });

  test("ends the request if onResponse throws", async () => {
    const { list, sent } = openClients(answer("[]"));
    const onResponse = () => {
      throw new Error("mine");
    };
    expect(await errorOf(list({ onResponse }))).toMatchObject({ message: "mine" });
    expect(sent.map(({ signal }) => signal.aborted)).toEqual([true]);
  });
});

describe("a call is repeated", () => {
  test.each([429, 502, 503, 504])("after a %i and a broken connection", async (status) => {
    const { list, sent } = openClients(answer("", status), broken, answer('["a"]'));
    expect(await outcomeOf(list())).toMatchObject({ result: ["a"] });
    expect(sent).toHaveLength(3);
    const failing = openClients(answer("", status), answer("busy", status));
    expect(await errorOf(failing.list())).toMatchObject({
      name: "ResponseError",
      message: `listFeatures returned ${status} after 3 attempts: busy`,
      status,
      attempts: 3,
    });
  });

  test("after a body that breaks; the error says how many attempts failed, and why", async () => {
    const cut: Answer = async () => ({ status: 200, headers: new Headers(), text: () => broken({} as Sent) });
    expect(await outcomeOf(openClients(cut, answer('["whole"]')).list())).toMatchObject({
      result: ["whole"],
    });
    for (const cause of [new TypeError("no route"), Object.assign(new Error(), { code: "no route" })]) {
      expect(await errorOf(openClients(() => Promise.reject(cause)).list())).toMatchObject({
        name: "ConnectionError",
        message: "listFeatures got no complete response after 3 attempts: no route",
        attempts: 3,
        cause,
      });
    }
  });

  test("with its body and headers, if it has no further effect", async () => {
    const { features, sent } = openClients(answer("", 503), answer('{"results":[]}'));
    const body = { changes: [{ type: "add" as const, ...target, feature: "ü" }] };
    await outcomeOf(features().changeFeatures({ body }, { headers: { "x-request-id": "17" } }));
    const requests = sent.map(({ headers, signal, ...rest }) => ({ ...rest, headers: [...headers] }));
    expect(requests).toHaveLength(2);
    expect(requests[1]).toEqual(requests[0]);
    expect(requests[0]).toMatchObject({ method: "POST", body: JSON.stringify(body) });
    expect(requests[0]?.headers).toContainEqual(["content-type", "application/json"]);
  });

  test.each<[string, { retries?: number }, number, { isIdempotent?: false }]>([
    ["after a permanent error", {}, 500, {}],
    ["with retries: 0", { retries: 0 }, 503, {}],
    ["if the operation is not idempotent", {}, 503, { isIdempotent: false }],
  ])("but not %s", async (_, options, status, change) => {
    const { by, sent } = openClients(answer("", status));
    const operations = featuresOperations.map((operation) => ({ ...operation, ...change }));
    const { calls } = openCalls<Operations, typeof defaults>(operations, { ...by, ...options });
    const error = await errorOf(calls.addFeature({ ...target, feature: "a" }));
    expect(error).toMatchObject({ message: `addFeature returned ${status}`, attempts: 1 });
    expect(sent).toHaveLength(1);
  });

  test.each([
    [0, [50, 100, 200, 400, 800, 1600, 2500, 2500]],
    [1, [100, 200, 400, 800, 1600, 3200, 5000, 5000]],
  ])("after delays that double up to 5 s, half of each random (%i)", async (random, delays) => {
    vi.spyOn(Math, "random").mockReturnValue(random);
    const { list, sent } = openClients(broken);
    const { ms } = await outcomeOf(list({ timeoutMs: 60_000 }, { retries: delays.length }));
    expect([sent.length, ms]).toEqual([delays.length + 1, delays.reduce((sum, delay) => sum + delay)]);
  });

  test.each<[retryAfter: string, ms: number | undefined, timeoutMs?: number]>([
    ["1", 1050],
    ["60", 60_050],
    ["Fri, 05 Mar 2032 09:14:24 GMT", 2050],
    ["soon", 50],
    ["-1", 50],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 50],
    ["61", undefined],
    ["9".repeat(400), undefined],
    ["30", undefined, 10_000],
  ])(
    "after the time of Retry-After, unless that is too long: %s",
    async (retryAfter, ms, timeoutMs = 100_000) => {
      vi.setSystemTime("2032-03-05T09:14:22Z");
      vi.spyOn(Math, "random").mockReturnValue(0);
      const { list } = openClients(answer("", 503, { "retry-after": retryAfter }), answer("[]"));
      const outcome = await outcomeOf(list({ timeoutMs }));
      if (ms !== undefined) return expect(outcome).toMatchObject({ result: [], ms });
      expect(outcome).toMatchObject({ error: { status: 503, attempts: 1 }, ms: 0 });
      expect(outcome.error.headers.get("retry-after")).toBe(retryAfter);
    },
  );

  test("once with a new token, if the token function has another one", async () => {
    const requests: boolean[] = [];
    const token = async ({ refresh }: { refresh: boolean }) => {
      requests.push(refresh);
      return refresh ? "new" : "old";
    };
    const renewed = openClients(answer("", 401), answer("[]"));
    expect(await outcomeOf(renewed.list({}, { token, retries: 0 }))).toMatchObject({ result: [] });
    expect(renewed.sent.at(-1)?.headers.get("authorization")).toBe("Bearer new");
    expect(requests.splice(0)).toEqual([false, true]);

    const { list } = openClients(answer("", 401));
    expect(await errorOf(list({}, { token }))).toMatchObject({ status: 401, attempts: 2 });
    expect(requests).toEqual([false, true]);
    for (const same of ["fixed", () => "fixed"]) {
      expect(await errorOf(list({}, { token: same }))).toMatchObject({ status: 401, attempts: 1 });
    }
    const failing = () => Promise.reject(new Error("no token"));
    expect(await errorOf(list({}, { token: failing }))).toMatchObject({ message: "no token" });
  });
});

describe("a call ends", () => {
  const silentToken = () => new Promise<string>(() => {});

  const { signal } = new AbortController();
  test.each<[string, CallOptions, Partial<ClientOptions>, number, number, ...Answer[]]>([
    ["after 30 seconds by default", {}, {}, 30_000, 1],
    ["after the timeout of the client", {}, { timeoutMs: 60 }, 60, 1],
    ["after its own timeout", { timeoutMs: 50, signal }, { timeoutMs: 60 }, 50, 1],
    ["after the timeout if the token function hangs", {}, { timeoutMs: 70, token: silentToken }, 70, 0],
    ["after one timeout for all attempts", { timeoutMs: 1000 }, {}, 1000, 2, answer("", 503)],
  ])("%s", async (_, options, client, ms, attempts, ...answers) => {
    const { error, ...outcome } = await outcomeOf(openClients(...answers, never).list(options, client));
    expect(outcome).toMatchObject({ ms });
    expect(error).toMatchObject({
      name: "TimeoutError",
      message: `listFeatures timed out after ${ms} ms (attempts: ${attempts})`,
    });
  });

  test("never by itself if the timeout is infinite or longer than a timer can be", async () => {
    const late: Answer = async (request) => {
      await Promise.race([new Promise((resolve) => setTimeout(resolve, 1e9)), never(request)]);
      return answer("[]")(request);
    };
    for (const timeoutMs of [Number.POSITIVE_INFINITY, 1e12]) {
      const { result, ms } = await outcomeOf(openClients(late).list({ timeoutMs }));
      expect([result, ms]).toEqual([[], 1e9]);
    }
  });

  test.each<[string, Answer]>([
    ["while a response is awaited", never],
    ["before a retry", answer("", 503, { "retry-after": "10" })],
  ])("when its signal aborts: %s", async (_, given) => {
    const stop = new AbortController();
    const { list, ledger, sent } = openClients(given);
    setTimeout(() => stop.abort(new Error("cancelled")), 300);
    const { error, ms } = await outcomeOf(list({ signal: stop.signal }));
    expect([error.message, ms]).toEqual(["cancelled", 300]);
    for (const iterate of [ledger.eachTransaction, ledger.exportTransactions]) {
      const aborted = iterate({ account_id: ["57"] }, { signal: stop.signal }).next();
      expect(await errorOf(aborted)).toMatchObject({ message: "cancelled" });
    }
    expect(sent).toHaveLength(1);
  });
});

describe("a stream", () => {
  const record = { cursor: "1-1", type: "added", feature: "ü💷" };
  const event = `id: 1-1\ndata: ${JSON.stringify(record)}\n\n`;
  const next = { done: false, value: record };
  const follow = (given: Answer | Answer[], options?: CallOptions, client?: Partial<ClientOptions>) =>
    openClients(...[given].flat())
      .features(client)
      .followChanges({ cursor: "1-0" }, options);

  test("of text is decoded, wherever its bytes are split, and not repeated once it has begun", async () => {
    const bytes = Array.from(Buffer.from("Reference\nü💷\n"), (byte) => Uint8Array.of(byte));
    const exported = (...answers: Answer[]) =>
      outcomeOf(Array.fromAsync(openClients(...answers).ledger.exportTransactions({})));
    const { result } = await exported(answer("", 503), async () => streamed(200, bytes));
    expect((result as string[]).join("")).toBe("Reference\nü💷\n");
    const cut = stream([[0, "a\n"]], broken);
    const { error } = await exported(cut, answer("a\nb\n"));
    expect(error).toMatchObject({ name: "ConnectionError", attempts: 1 });
  });

  test.each<[string, () => unknown, string]>([
    ["breaks", () => Promise.reject(new Error("other side closed")), "other side closed"],
    ["ends", () => {}, "the service has ended the stream"],
  ])("of changes rejects when it %s, after the records that have arrived", async (_, end, reason) => {
    const text = `:\r\n\r\n${event}${event.replaceAll("\n", "\r\n")}data: {"cut`;
    const { features, sent } = openClients(stream([[0, text]], end));
    const changes = features().followChanges({ cursor: "1-0" });
    expect(await outcomeOf(changes.next())).toMatchObject({ result: next });
    expect(await outcomeOf(changes.next())).toMatchObject({ result: next });
    expect(sent[0]?.url).toBe("http://host/path/changes?cursor=1-0");
    expect(sent[0]?.headers.get("accept")).toBe("text/event-stream, application/problem+json;q=0.1");
    expect(await errorOf(changes.next())).toMatchObject({
      name: "ConnectionError",
      operationId: "listChanges",
      attempts: 1,
      message: `listChanges got no complete response: ${reason}`,
    });
    expect(await changes.next()).toEqual({ done: true, value: undefined });
  });

  test("of changes is broken if nothing has arrived for a minute while its reader waits", async () => {
    const message = expect.stringMatching(/: nothing has arrived for 60000 ms$/);
    const comments = Array.from({ length: 6 }, (): [number, string] => [50_000, ":\n\n"]);
    const begun = stream([[0, event], ...comments, [50_000, event]], never);
    // It is requested again until it has begun.
    const changes = follow([answer("", 503), broken, begun]);
    expect(await outcomeOf(changes.next())).toMatchObject({ result: next });
    // The time of the reader does not count.
    await vi.advanceTimersByTimeAsync(1e6);
    expect(await outcomeOf(changes.next())).toMatchObject({ result: next });
    expect(await outcomeOf(changes.next())).toMatchObject({
      error: { name: "ConnectionError", message },
      ms: 60_000,
    });
    expect(await errorOf(follow(never).next())).toMatchObject({ name: "ConnectionError", message });
  });

  test("of changes has a timeout only if the call has one", async () => {
    const open = stream([[50_000, ":\n\n"]], never);
    expect(await outcomeOf(follow(open, { timeoutMs: 200 }).next())).toMatchObject({
      error: { name: "TimeoutError" },
      ms: 200,
    });
    const late = stream([[50_000, event]], never);
    for (const timeoutMs of [{}, { timeoutMs: undefined as never }]) {
      const changes = follow(late, timeoutMs, { timeoutMs: 100 });
      expect(await outcomeOf(changes.next())).toMatchObject({ result: next, ms: 50_000 });
    }
  });

  test("yields nothing after the signal has aborted", async () => {
    const stop = new AbortController();
    const changes = follow(stream([[0, event + event]], never), { signal: stop.signal });
    expect(await outcomeOf(changes.next())).toMatchObject({ result: next });
    stop.abort(new Error("cancelled"));
    expect(await errorOf(changes.next())).toMatchObject({ message: "cancelled" });
    expect(await changes.next()).toEqual({ done: true, value: undefined });
  });

  test("ends its request when its reader leaves it", async () => {
    const isLeft = vi.fn();
    async function* pieces() {
      try {
        for (;;) yield Buffer.from("a\n");
      } finally {
        isLeft();
      }
    }
    const { ledger } = openClients(async () => streamed(200, pieces()));
    for await (const text of ledger.exportTransactions({})) {
      expect([text, isLeft.mock.calls]).toEqual(["a\n", []]);
      break;
    }
    expect(isLeft).toHaveBeenCalledOnce();
  });
});
