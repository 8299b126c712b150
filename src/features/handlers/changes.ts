import type { components, operations } from "../../../generated/features.ts";
import type { Handlers } from "../../service/contract.ts";
import { toJson } from "../../service/json.ts";
import type { FeatureStore, Wish } from "../store/store.ts";
import { errorLine } from "./errors.ts";
import { instantOf, isPast } from "./features.ts";
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
      for (const [index, wish] of wishes.entries()) {
        const place = `body/changes/${index}/expires_at`;
        if (wish.type === "add" && isPast(wish.expiresAt)) {
          return errorLine(400, `${place} must be in the future`);
        }
        if (wish.type === "remove" && changes[index]?.expires_at !== undefined) {
          return errorLine(400, `${place} belongs to a feature that is added, not to one that is removed`);
        }
      }
      const results: components["schemas"]["WishResult"][] = [];
      const ofResources = Map.groupBy(changes.keys(), (index) => {
        const { resource, id } = changes[index] as (typeof changes)[number];
        return JSON.stringify([resource, id]);
      });
      await Promise.all(
        Array.from(ofResources, async ([name, indexes]) => {
          const [resource, id] = JSON.parse(name);
          const had = await store.change(
            resource,
            id,
            indexes.map((index) => wishes[index] as Wish),
          );
          for (const [position, index] of indexes.entries()) {
            results[index] = { changed: (wishes[index]?.type === "remove") === had?.[position] };
          }
        }),
      );
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

function wishOf({ type, feature, expires_at }: components["schemas"]["Wish"]): Wish {
  return type === "add" ? { type, feature, expiresAt: instantOf(expires_at) } : { type, feature };
}
