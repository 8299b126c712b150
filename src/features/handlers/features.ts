import type { operations } from "../../../generated/features.ts";
import { entityTag, isMatched, isWeakened } from "../../http/entity-tag.ts";
import type { Handlers } from "../../http/handlers.ts";
import { toJson } from "../../values/json.ts";
import type { Owner } from "../../waiting/owner.ts";
import { letOthersRun } from "../../waiting/turns.ts";
import { errorLine, tooManyFeatures } from "../requests/errors.ts";
import { expiryOf, isPast } from "../requests/expiry.ts";
import { type LongWork, unknownSize } from "../requests/long-work.ts";
import { type Entry, type FeatureChange, type FeatureStore, featuresMax } from "../store/store.ts";
import { statesOf } from "./state.ts";

type FeatureOperation =
  | "listFeatures"
  | "replaceFeatures"
  | "removeFeatures"
  | "hasFeature"
  | "addFeature"
  | "removeFeature"
  | "listResources";

/** Maximum number of features that one change removes from a list that is longer than `featuresMax`. */
const removalsPerChange = 250;

const otherTag = "the list has changed: its ETag is not the one in If-Match";
const weakTag =
  "the list has not changed, but If-Match has its ETag in the weak form W/…, which RFC 9110 does not let match: a proxy " +
  "has compressed the list; send the ETag without W/, or let the proxy compress no JSON";

/** The features of one resource, and the resources that have one feature. */
export function featureHandlers(
  store: FeatureStore,
  long: LongWork,
): Pick<Handlers<operations>, FeatureOperation> {
  const stateAt = statesOf(store);
  const featuresOf = async (resource: string, id: string) => namesIn(await store.list(resource, id));

  /** Replaces the list of a resource if `mayReplace` accepts it. Resolves with the new list, or undefined if not. */
  async function replace(
    owner: Owner,
    resource: string,
    id: string,
    features: string[],
    mayReplace: (list: string[]) => boolean,
  ): Promise<string[] | undefined> {
    const wanted = new Set(features);
    for (;;) {
      let list = await featuresOf(resource, id);
      if (!mayReplace(list)) return undefined;
      if (list.length > featuresMax) list = await shorten(owner, resource, id, list, wanted);
      const had = new Set(list);
      const changes: FeatureChange[] = [
        ...list.filter((feature) => !wanted.has(feature)).map(removal),
        ...features.map((feature) => ({ type: "add" as const, feature })),
      ];
      // If the list has changed meanwhile, the new list is checked again.
      const change = () => store.change(resource, id, changes, list);
      if ("had" in (await long(owner, changes.length, change))) {
        return [
          ...list.filter((feature) => wanted.has(feature)),
          ...features.filter((feature) => !had.has(feature)),
        ];
      }
    }
  }

  /** Removes what is not wanted from a list that is too long for one change, in several. Resolves with the rest. */
  async function shorten(owner: Owner, resource: string, id: string, list: string[], wanted: Set<string>) {
    const unwanted = list.filter((feature) => !wanted.has(feature)).map(removal);
    for (let start = 0; start < unwanted.length; start += removalsPerChange) {
      const removed = unwanted.slice(start, start + removalsPerChange);
      await long(owner, removed.length, () => store.change(resource, id, removed));
      await letOthersRun();
    }
    return list.filter((feature) => wanted.has(feature));
  }

  return {
    async listFeatures({ path: { resource, id }, query: { as_of }, owner, log }) {
      log.debug({ resource, id }, "list features");
      const state = await stateAt(as_of);
      if ("status" in state) return state;
      const list = await long(owner, sizeAt(as_of), () => state.list(resource, id));
      return { status: 200, body: namesIn(list) };
    },

    async replaceFeatures({ path: { resource, id }, headers, body: features, owner, log }) {
      log.debug({ resource, id, features }, "replace features");
      // The kernel lets a request without it through.
      const ifMatch: string | undefined = headers["If-Match"];
      if (ifMatch === undefined) {
        return errorLine(428, "the header If-Match is required: the ETag of the list to replace, or *");
      }
      let tag = "";
      const list = await replace(owner, resource, id, features, (present) => {
        tag = entityTag(toJson(present));
        return isMatched(ifMatch, tag);
      });
      if (list) return { status: 200, body: list };
      return errorLine(412, isWeakened(ifMatch, tag) ? weakTag : otherTag);
    },

    async removeFeatures({ path: { resource, id }, owner, log }) {
      log.debug({ resource, id }, "remove features");
      await replace(owner, resource, id, [], () => true);
      return { status: 204 };
    },

    async hasFeature({ path: { resource, id, feature }, query: { as_of }, owner, log }) {
      log.debug({ resource, id, feature }, "has feature");
      const state = await stateAt(as_of);
      if ("status" in state) return state;
      const [result = false] = await long(owner, sizeAt(as_of), () => state.has(resource, id, [feature]));
      return { status: 200, body: { result } };
    },

    async addFeature({ path: { resource, id, feature }, query: { expires_at }, log }) {
      log.debug({ resource, id, feature }, "add feature");
      const expiresAt = expiryOf(expires_at);
      if (isPast(expiresAt)) return errorLine(400, "query parameter expires_at must be in the future");
      const outcome = await store.change(resource, id, [{ type: "add", feature, expiresAt }]);
      if ("rejected" in outcome) return errorLine(400, `the resource ${tooManyFeatures}`);
      return { status: outcome.had[0] ? 200 : 201, body: { result: true } };
    },

    async removeFeature({ path: { resource, id, feature }, log }) {
      log.debug({ resource, id, feature }, "remove feature");
      await store.change(resource, id, [removal(feature)]);
      return { status: 204 };
    },

    async listResources({ path: { resource }, query: { feature, count, as_of, cursor, limit }, owner, log }) {
      log.debug({ resource, feature }, "list resources");
      const state = await stateAt(as_of);
      if ("status" in state) return state;
      if (count && as_of !== undefined) {
        return errorLine(400, "query parameter count is not allowed with as_of");
      }
      const after = cursor && Buffer.from(cursor, "base64url").toString();
      const page = () => state.idsWith(resource, feature, after, limit);
      const { ids, next } = await long(owner, sizeAt(as_of, limit), page);
      return {
        status: 200,
        body: {
          ids,
          ...(next !== undefined && { next_cursor: Buffer.from(next).toString("base64url") }),
          ...(count && { count: await store.count(resource, feature) }),
        },
      };
    },
  };
}

/** The size of work on the state at `as_of`. Of the past, many records may be read for each item. */
const sizeAt = (as_of: string | undefined, items = 1) => (as_of === undefined ? items : unknownSize);

const namesIn = (entries: Entry[]): string[] => entries.map(({ feature }) => feature);
const removal = (feature: string): FeatureChange => ({ type: "remove", feature });
