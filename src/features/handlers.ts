import type { operations } from "../../generated/features.ts";
import type { Handlers } from "../service/contract.ts";
import type { Logger } from "../service/log.ts";
import type { FeatureStore } from "./store/store.ts";

export function featureHandlers(store: FeatureStore): Omit<Handlers<operations>, "getMetrics"> {
  return {
    listFeatures: ({ path: { resource, id }, log }) =>
      orStoreFailure(log, async () => {
        log.debug({ resource, id }, "list features");
        return { status: 200, body: await store.list(resource, id) };
      }),

    hasFeature: ({ path: { resource, id, feature }, log }) =>
      orStoreFailure(log, async () => {
        log.debug({ resource, id, feature }, "has feature");
        return { status: 200, body: { result: await store.has(resource, id, feature) } };
      }),

    addFeature: ({ path: { resource, id, feature }, log }) =>
      orStoreFailure(log, async () => {
        log.debug({ resource, id, feature }, "add feature");
        const [had] = (await store.change(resource, id, [{ type: "add", feature }])) ?? [];
        return { status: had ? 200 : 201, body: { result: true } };
      }),
  };
}

/** A store that fails is a declared answer: 500, with the store's own message as one line of text. */
async function orStoreFailure<Reply>(log: Logger, answer: () => Promise<Reply>) {
  try {
    return await answer();
  } catch (error) {
    log.error({ err: error }, "the store failed");
    return {
      status: 500 as const,
      ...errorLine(500, [error instanceof Error ? error.message : String(error)]),
    };
  }
}

/** Errors of this service are one line of plain text. */
export function errorLine(_status: number, messages: string[]) {
  const line = messages.join("; ").replaceAll(/[\r\n]+/g, " ") || "the store failed";
  return { type: "text/plain" as const, body: `${line}\n` };
}
