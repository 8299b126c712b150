import { type Dispatcher, request as undiciRequest } from "undici";
import { expect } from "vitest";
import type { HttpParts } from "../http/service.ts";
import { type Logger, openLog } from "../process/log.ts";
import { featuresApp } from "./app.ts";
import { type FeatureStore, openFeatureStore } from "./store/store.ts";

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
} & HttpParts = {}) {
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

export const json = "application/json; charset=utf-8";
export const plain = "text/plain; charset=utf-8";
