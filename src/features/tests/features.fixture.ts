import { type Dispatcher, request as undiciRequest } from "undici";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import type { HttpOptions } from "../../http/options.ts";
import { type Logger, openLog } from "../../process/log.ts";
import { featuresApp } from "../app.ts";
import { type FeatureStore, StoreFailure } from "../store/store.ts";
import { openFeatureStore } from "../store/stores.ts";

export interface TestResponse {
  status: number;
  headers: Record<string, unknown>;
  type: string | undefined;
  text: string;
}

/** The headers and the body of a request. A body that is not a string is sent as JSON. */
interface RequestOptions {
  headers?: Record<string, string>;
  body?: unknown;
}

/** Starts the feature storage. Disposal fails if a response has violated the contract. */
export async function startFeatures({
  store,
  log = openLog("silent"),
  ...http
}: {
  store?: FeatureStore;
  log?: Logger;
} & HttpOptions = {}) {
  const violations: string[] = [];
  const app = await featuresApp({
    store: store ?? (await openFeatureStore("memory:")),
    log,
    ...http,
    onViolation: (violation) => violations.push(violation),
  });
  const base = await app.listen({ port: 0, host: "127.0.0.1" });
  return {
    base,
    async request(
      method: Dispatcher.HttpMethod,
      path: string,
      { headers = {}, body }: RequestOptions = {},
    ): Promise<TestResponse> {
      const isJson = body !== undefined && typeof body !== "string";
      const response = await undiciRequest(base + path, {
        method,
        headers: { ...(isJson && { "content-type": "application/json" }), ...headers },
        body: body === undefined ? null : isJson ? JSON.stringify(body) : (body as string),
      });
      const { "content-type": type } = response.headers;
      return {
        status: response.statusCode,
        headers: response.headers,
        type: type as string | undefined,
        text: await response.body.text(),
      };
    },
    async [Symbol.asyncDispose]() {
      await app.close();
      expect(violations).toEqual([]);
    },
  };
}

/** A method of a store, whatever its arguments are. */
type Method = (...args: unknown[]) => unknown;

/**
 * Starts one service for the tests of a file. Before each test it gets a new store, of which the test can replace methods.
 */
export function serviceForTests(storeUrl = "memory:") {
  let current: FeatureStore;
  let methods: Partial<FeatureStore>;
  let service: Awaited<ReturnType<typeof startFeatures>>;
  const store = new Proxy({} as FeatureStore, {
    get(_target, name: keyof FeatureStore) {
      if (name === "history") return current.history;
      // The service asks for it before there is a store.
      if (name === "news") return undefined;
      if (name === Symbol.asyncDispose) return async () => {};
      return (...args: unknown[]) => ((methods[name] ?? current[name]) as Method)(...args);
    },
  });
  beforeAll(async () => {
    service = await startFeatures({ store });
  });
  beforeEach(async () => {
    current = await openFeatureStore(storeUrl);
    methods = {};
  });
  afterAll(() => service[Symbol.asyncDispose]());
  const request: typeof service.request = (...args) => service.request(...args);
  return {
    store,
    request,
    base: () => service.base,
    get: (path: string) => request("GET", path),
    /** The JSON in the response to a GET. */
    read: async (path: string) => JSON.parse((await request("GET", path)).text),
    /** Replaces methods of the store until the end of the test. They can call those of the store itself. */
    replace(replacements: (store: FeatureStore) => Partial<FeatureStore>): void {
      methods = replacements(current);
    },
  };
}

/** Follows all pages of a list, the first of which is at the path. */
export async function pagesAt<Page extends { next_cursor?: string }>(
  read: (path: string) => Promise<Page>,
  path: string,
): Promise<Page[]> {
  const pages: Page[] = [];
  for (let cursor = ""; ; ) {
    const page = await read(path + cursor);
    pages.push(page);
    if (page.next_cursor === undefined) return pages;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

/** Reads a stream until the end of the test. */
export function readStream(open: (signal: AbortSignal) => AsyncIterable<Buffer>) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  let text = "";
  const ended = (async () => {
    for await (const chunk of open(stop.signal)) text += chunk;
  })();
  ended.catch(() => {});
  return { text: () => text, ended, stop: () => stop.abort() };
}

/**
 * A store that counts the looks at its newest cursor and the reads of its feed. One of these methods can be made to fail,
 * and looks can be held.
 */
export function watchFeed(store: FeatureStore) {
  const watched = {
    looks: 0,
    reads: 0,
    /** Looks that have begun and not ended, and the most that there were at the same time. */
    looking: 0,
    lookingMost: 0,
    held: Promise.resolve(),
    failing: undefined as "newest" | "changes" | undefined,
    failures: 0,
    /** Resolves when what was changed before has been seen: a look has begun and ended since. */
    async hasLooked(): Promise<void> {
      const { looks } = watched;
      await eventually(() => expect(watched.looks).toBeGreaterThan(looks + 1));
    },
    failIf(name: "newest" | "changes"): void {
      if (watched.failing !== name) return;
      watched.failures += 1;
      throw new StoreFailure("unavailable");
    },
    store: {
      ...store,
      async newest(before) {
        watched.looks += 1;
        watched.looking += 1;
        watched.lookingMost = Math.max(watched.lookingMost, watched.looking);
        try {
          await watched.held;
          watched.failIf("newest");
          return await store.newest(before);
        } finally {
          watched.looking -= 1;
        }
      },
      async changes(...args) {
        watched.reads += 1;
        watched.failIf("changes");
        return await store.changes(...args);
      },
    } satisfies FeatureStore,
  };
  return watched;
}

export const json = "application/json; charset=utf-8";
export const plain = "text/plain; charset=utf-8";
