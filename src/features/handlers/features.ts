import type { operations } from "../../../generated/features.ts";
import { entityTag, isMatched } from "../../http/entity-tag.ts";
import type { Handlers } from "../../http/handlers.ts";
import { toJson } from "../../values/json.ts";
import type { FeatureChange, FeatureStore } from "../store/store.ts";
import { errorLine } from "./errors.ts";
import { expiryOf, isPast } from "./expiry.ts";

type FeatureOperation =
  | "listFeatures"
  | "replaceFeatures"
  | "removeFeatures"
  | "hasFeature"
  | "addFeature"
  | "removeFeature"
  | "listResources";

/** The features of one resource, and the resources that have one feature. */
export function featureHandlers(store: FeatureStore): Pick<Handlers<operations>, FeatureOperation> {
  /** Replaces the list of a resource if `mayReplace` accepts it. Resolves with the new list, or undefined if not. */
  async function replace(
    resource: string,
    id: string,
    features: string[],
    mayReplace: (list: string[]) => boolean,
  ): Promise<string[] | undefined> {
    const wanted = new Set(features);
    for (;;) {
      const list = await store.list(resource, id);
      if (!mayReplace(list)) return undefined;
      const had = new Set(list);
      const changes: FeatureChange[] = [
        ...list
          .filter((feature) => !wanted.has(feature))
          .map((feature) => ({ type: "remove" as const, feature })),
        ...features.map((feature) => ({ type: "add" as const, feature })),
      ];
      // If the list has changed meanwhile, the new list is checked again.
      if (await store.change(resource, id, changes, list)) {
        return [
          ...list.filter((feature) => wanted.has(feature)),
          ...features.filter((feature) => !had.has(feature)),
        ];
      }
    }
  }

  return {
    async listFeatures({ path: { resource, id }, log }) {
      log.debug({ resource, id }, "list features");
      return { status: 200, body: await store.list(resource, id) };
    },

    async replaceFeatures({ path: { resource, id }, headers, body: features, log }) {
      log.debug({ resource, id, features }, "replace features");
      const ifMatch = headers["If-Match"];
      if (ifMatch === undefined) {
        return errorLine(428, "the header If-Match is required: the ETag of the list to replace, or *");
      }
      const tagOf = (list: string[]) => entityTag(toJson(list));
      const list = await replace(resource, id, features, (present) => isMatched(ifMatch, tagOf(present)));
      if (list) return { status: 200, body: list };
      return errorLine(412, "the list has changed: its ETag is not the one in If-Match");
    },

    async removeFeatures({ path: { resource, id }, log }) {
      log.debug({ resource, id }, "remove features");
      await replace(resource, id, [], () => true);
      return { status: 204 };
    },

    async hasFeature({ path: { resource, id, feature }, log }) {
      log.debug({ resource, id, feature }, "has feature");
      return { status: 200, body: { result: await store.has(resource, id, feature) } };
    },

    async addFeature({ path: { resource, id, feature }, query: { expires_at }, log }) {
      log.debug({ resource, id, feature }, "add feature");
      const expiresAt = expiryOf(expires_at);
      if (isPast(expiresAt)) return errorLine(400, "query parameter expires_at must be in the future");
      const [had] = (await store.change(resource, id, [{ type: "add", feature, expiresAt }])) ?? [];
      return { status: had ? 200 : 201, body: { result: true } };
    },

    async removeFeature({ path: { resource, id, feature }, log }) {
      log.debug({ resource, id, feature }, "remove feature");
      await store.change(resource, id, [{ type: "remove", feature }]);
      return { status: 204 };
    },

    async listResources({ path: { resource }, query: { feature, cursor, limit }, log }) {
      log.debug({ resource, feature }, "list resources");
      const after = cursor && Buffer.from(cursor, "base64url").toString();
      const ids = await store.idsWith(resource, feature, after, limit);
      const last = ids.length === limit ? ids.at(-1) : undefined;
      return {
        status: 200,
        body: { ids, ...(last !== undefined && { next_cursor: Buffer.from(last).toString("base64url") }) },
      };
    },
  };
}
