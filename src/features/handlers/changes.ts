import type { components, operations } from "../../../generated/features.ts";
import type { Handlers } from "../../http/handlers.ts";
import { toJson } from "../../values/json.ts";
import { changeMany, type ResourceWish } from "../store/change-many.ts";
import type { FeatureStore } from "../store/store.ts";
import { errorLine } from "./errors.ts";
import { expiryOf, isPast } from "./expiry.ts";
import { openFeed, viewChange } from "./feed.ts";

type ChangeOperation = "hasFeatures" | "changeFeatures" | "listChanges";

/** Many at once, and what has changed. */
export function changeHandlers(store: FeatureStore): Pick<Handlers<operations>, ChangeOperation> {
  const follow = openFeed(store);
  return {
    async hasFeatures({ body: { resources, features }, log }) {
      log.debug({ resources: resources.length, features }, "has features");
      const results = resources.map(async ({ resource, id }) => {
        const list = new Set(await store.list(resource, id));
        return { resource, id, has: features.map((feature) => list.has(feature)) };
      });
      return { status: 200, body: { results: await Promise.all(results) } };
    },

    async changeFeatures({ body: { changes }, log }) {
      log.debug({ changes: changes.length }, "change features");
      const wishes = changes.map(wishOf);
      for (const [index, { type, expires_at }] of changes.entries()) {
        if (expires_at === undefined) continue;
        const place = `body/changes/${index}/expires_at`;
        if (type === "remove") return errorLine(400, `${place} belongs to a feature that is added`);
        if (isPast(expiryOf(expires_at))) return errorLine(400, `${place} must be in the future`);
      }
      const had = await changeMany(store.change, wishes);
      const results = wishes.map(({ type }, index) => ({ changed: (type === "remove") === had[index] }));
      return { status: 200, body: { results } };
    },

    async listChanges({ query: { cursor, limit }, headers, mediaType, ended, log }) {
      const asked = headers["Last-Event-ID"] ?? cursor;
      log.debug({ cursor: asked, limit }, "list changes");
      // Asked for before the changes are: what comes in between lies behind it, and is told next time.
      const newest = asked === undefined || asked === "newest" ? await store.newest() : asked;
      const told = await store.changes(asked === "newest" ? newest : asked, limit);
      if (told === undefined) {
        return errorLine(
          410,
          "changes behind this cursor are not kept any more, or it is none of this service; " +
            "read what there is anew, and go on behind cursor=newest",
        );
      }
      const next_cursor = told.at(-1)?.cursor ?? newest;
      switch (mediaType) {
        case "text/event-stream":
          return { status: 200, type: mediaType, body: follow(told, next_cursor, ended) };
        case "application/x-ndjson":
          return { status: 200, type: mediaType, body: told.map(viewChange).map(toJson).join("") };
        default:
          return { status: 200, body: { changes: told.map(viewChange), next_cursor } };
      }
    },
  };
}

function wishOf({ type, resource, id, feature, expires_at }: components["schemas"]["Wish"]): ResourceWish {
  const named = { resource, id, feature };
  return type === "add" ? { type, ...named, expiresAt: expiryOf(expires_at) } : { type, ...named };
}
