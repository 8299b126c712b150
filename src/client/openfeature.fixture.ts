import { expect } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { featuresApp } from "../features/app.ts";
import type { Entry, FeatureStore } from "../features/store/store.ts";
import { openFeatureStore } from "../features/store/stores.ts";
import { openLog } from "../process/log.ts";

/** A service on a port of its own. It can be stopped and started; its store stays. */
export async function openService(storeUrl = "memory:") {
  const store = await openFeatureStore(storeUrl);
  const calls: string[] = [];
  const violations: string[] = [];
  const counted: FeatureStore = {
    ...store,
    async entriesOf(resource, ...others) {
      calls.push(resource);
      await service.beforePage(calls.length);
      return store.entriesOf(resource, ...others);
    },
    async [Symbol.asyncDispose]() {},
  };
  const port = await freePort();
  let app: Awaited<ReturnType<typeof featuresApp>> | undefined;
  const service = {
    store,
    baseUrl: `http://127.0.0.1:${port}`,
    /** The kinds of the pages of entries that were read. */
    calls,
    /** Is awaited before a page is read; pages are counted from 1. */
    beforePage: async (_page: number): Promise<void> => {},
    async start() {
      const onViolation = (violation: string) => violations.push(violation);
      app = await featuresApp({ store: counted, log: openLog("silent"), onViolation });
      await app.listen({ port, host: "127.0.0.1" });
    },
    async stop() {
      await app?.close();
      app = undefined;
    },
    add: (id: string, feature: string, { resource = "customer", expiresAt }: Partial<Entry> = {}) =>
      store.change(resource, id, [{ type: "add", feature, expiresAt }]),
    remove: (id: string, feature: string, resource = "customer") =>
      store.change(resource, id, [{ type: "remove", feature }]),
    async [Symbol.asyncDispose]() {
      await service.stop();
      await store[Symbol.asyncDispose]();
      expect(violations).toEqual([]);
    },
  };
  await service.start();
  return service;
}
