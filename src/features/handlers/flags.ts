import type { operations } from "../../../generated/features.ts";
import type { Handlers } from "../../http/handlers.ts";
import { sharedNextOf } from "../../waiting/shared.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { resourceOf, viewFlag } from "../requests/flag.ts";
import { openFlagEvents } from "../requests/flag-events.ts";
import type { ChangeFeed, Directory, Features } from "../store/store.ts";

/** Maximum number of features in use that are named as flags. */
const inUseMax = 1000;

/** Features as flags, by the OpenFeature Remote Evaluation Protocol. */
export function flagHandlers(store: Features & Directory & ChangeFeed) {
  const follow = openFlagEvents(store);
  const featuresInUse = sharedNextOf((resource) => store.featuresInUse(resource, undefined, inUseMax));
  return {
    async evaluateFlag({ path: { key }, body: { context }, log }) {
      const named = resourceOf(context);
      if ("errorCode" in named) return { status: 400, body: { key, ...named } };
      const { resource, id } = named;
      log.debug({ resource, id, feature: key }, "evaluate flag");
      const [has = false] = await store.has(resource, id, [key]);
      return { status: 200, body: viewFlag(key, has) };
    },

    async evaluateFlags({ body: { context }, serviceUrl, caller, log }) {
      const named = resourceOf(context);
      if ("errorCode" in named) return { status: 400, body: named };
      const { resource, id } = named;
      log.debug({ resource, id }, "evaluate flags");
      const entries = await store.list(resource, id);
      const has = new Set(await mapInTurns(entries, ({ feature }) => feature));
      const keys = has.union(new Set(await featuresInUse(resource)));
      const flags = await mapInTurns([...keys], (key) => viewFlag(key, has.has(key)));
      // EventSource cannot send a header.
      const query = new URLSearchParams({ resource, id, ...(caller && { access_token: caller.token }) });
      const url = `${serviceUrl}/ofrep/v1/events?${query}`;
      return { status: 200, body: { flags, eventStreams: [{ type: "sse", url }] } };
    },

    async followFlags({ query: { resource, id }, signal, log }) {
      log.debug({ resource, id }, "follow flags");
      return { status: 200, type: "text/event-stream", body: follow(resource, id, signal) };
    },
  } satisfies Partial<Handlers<operations>>;
}
