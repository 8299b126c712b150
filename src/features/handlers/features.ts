import type { operations } from "../../../generated/features.ts";
import { entityTag, isMatched, isWeakened } from "../../http/entity-tag.ts";
import { failure } from "../../http/failure.ts";
import type { Handlers } from "../../http/handlers.ts";
import { toJson } from "../../values/json.ts";
import { expiryInThePast, tooMany, tooManyFeatures } from "../requests/errors.ts";
import { expiryOf, isPast } from "../requests/expiry.ts";
import { type LongWork, sizeAt } from "../requests/long-work.ts";
import { namesOf, removalOf, replaceList } from "../requests/replace.ts";
import type { StateAt } from "../requests/state.ts";
import type { Features } from "../store/store.ts";

const otherTag = "the list has changed: its ETag is not the one in If-Match";
const weakTag =
  "the list has not changed, but If-Match has its ETag in the weak form W/…, which RFC 9110 does not let match: a proxy " +
  "has compressed the list; send the ETag without W/, or let the proxy compress no JSON";

/** The features of one resource. */
export function featureHandlers(store: Features, stateAt: StateAt, long: LongWork) {
  return {
    async listFeatures({ path: { resource, id }, query: { as_of }, owner, log }) {
      log.debug({ resource, id }, "list features");
      const state = await stateAt(as_of);
      if ("status" in state) return state;
      const list = await long(owner, sizeAt(as_of), () => state.list(resource, id));
      return { status: 200, body: namesOf(list) };
    },

    async replaceFeatures({ path: { resource, id }, headers, body: features, owner, log }) {
      log.debug({ resource, id, features }, "replace features");
      // The kernel lets a request without it through.
      const ifMatch: string | undefined = headers["If-Match"];
      if (ifMatch === undefined) {
        return failure(428, "the header If-Match is required: the ETag of the list to replace, or *");
      }
      let tag = "";
      const list = await replaceList(store, long, owner, [resource, id, features], (present) => {
        tag = entityTag(toJson(present));
        return isMatched(ifMatch, tag);
      });
      if (list) return { status: 200, body: list };
      return failure(412, isWeakened(ifMatch, tag) ? weakTag : otherTag);
    },

    async removeFeatures({ path: { resource, id }, owner, log }) {
      log.debug({ resource, id }, "remove features");
      await replaceList(store, long, owner, [resource, id, []], () => true);
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
      if (isPast(expiresAt)) return failure(400, expiryInThePast);
      const outcome = await store.change(resource, id, [{ type: "add", feature, expiresAt }]);
      if ("rejected" in outcome) return tooManyFeatures(`the resource ${tooMany}`);
      return { status: outcome.had[0] ? 200 : 201, body: { result: true } };
    },

    async removeFeature({ path: { resource, id, feature }, log }) {
      log.debug({ resource, id, feature }, "remove feature");
      await store.change(resource, id, [removalOf(feature)]);
      return { status: 204 };
    },
  } satisfies Partial<Handlers<operations>>;
}
