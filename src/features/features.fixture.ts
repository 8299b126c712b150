import { type Dispatcher, request } from "undici";
import { expect } from "vitest";
import { type Logger, openLog } from "../process/log.ts";
import { featuresApp } from "./app.ts";
import { type FeatureStore, openFeatureStore } from "./store/store.ts";

export interface Answer {
  status: number;
  headers: Record<string, unknown>;
  type: string | undefined;
  text: string;
}

/** What goes along with a request; a body that is no text is sent as JSON. */
interface Sent {
  headers?: Record<string, string>;
  body?: unknown;
}

/** The feature storage, listening, each reply held against the contract. */
export async function startFeatures({
  store,
  log = openLog("silent"),
}: {
  store?: FeatureStore;
  log?: Logger;
} = {}) {
  const strays: string[] = [];
  const app = await featuresApp({
    store: store ?? (await openFeatureStore("memory:")),
    log,
    onViolation: (fault) => strays.push(fault),
  });
  const base = await app.listen({ port: 0, host: "127.0.0.1" });
  return {
    base,
    async ask(
      method: Dispatcher.HttpMethod,
      path: string,
      { headers = {}, body }: Sent = {},
    ): Promise<Answer> {
      const isJson = body !== undefined && typeof body !== "string";
      const reply = await request(base + path, {
        method,
        headers: { ...(isJson && { "content-type": "application/json" }), ...headers },
        body: body === undefined ? null : isJson ? JSON.stringify(body) : (body as string),
      });
      const { "content-type": type } = reply.headers;
      return {
        status: reply.statusCode,
        headers: reply.headers,
        type: type as string | undefined,
        text: await reply.body.text(),
      };
    },
    async [Symbol.asyncDispose]() {
      await app.close();
      expect(strays).toEqual([]);
    },
  };
}

export const json = "application/json; charset=utf-8";
export const plain = "text/plain; charset=utf-8";
