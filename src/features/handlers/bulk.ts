import type { operations } from "../../../generated/features.ts";
import { failure } from "../../http/failure.ts";
import type { Handlers } from "../../http/handlers.ts";
import { readChange } from "../requests/entry.ts";
import { future, tooMany, tooManyFeatures } from "../requests/errors.ts";
import { expiryOf, isPast } from "../requests/expiry.ts";
import type { LongWork } from "../requests/long-work.ts";
import { changeMany } from "../store/change-many.ts";
import { type Features, resourceKey } from "../store/store.ts";

/** Many checks, and many changes, in one request. */
export function bulkHandlers(store: Features, long: LongWork) {
  return {
    async hasFeatures({ body: { resources, features }, owner, log }) {
      log.debug({ resources: resources.length, features }, "has features");
      const distinct = new Map(resources.map((one) => [resourceKey(one), one]));
      const read = () => store.hasEach([...distinct.values()], features);
      const has = await long(owner, distinct.size * features.length, read);
      const found = new Map([...distinct.keys()].map((key, index) => [key, has[index]]));
      const results = resources.map((one) => ({ ...one, has: found.get(resourceKey(one)) ?? [] }));
      return { status: 200, body: { results } };
    },

    async changeFeatures({ body: { changes }, owner, log }) {
      log.debug({ changes: changes.length }, "change features");
      for (const [index, { type, expires_at }] of changes.entries()) {
        if (expires_at === undefined) continue;
        const pointer = `/changes/${index}/expires_at`;
        const wrong = (rule: Record<string, unknown>, text: string) =>
          failure(400, { pointer, rule, detail: `body${pointer} ${text}` });
        if (type === "remove") return wrong({ not: "remove" }, "is not allowed with remove");
        if (isPast(expiryOf(expires_at))) return wrong(future, "must be in the future");
      }
      const makeChanges = () => changeMany(store.change, changes.map(readChange));
      const outcome = await long(owner, changes.length, makeChanges);
      if ("tooMany" in outcome) {
        const { resource, id } = changes[outcome.tooMany] as (typeof changes)[number];
        return tooManyFeatures(
          `body/changes/${outcome.tooMany}: ${resource}/${id} ${tooMany}; ` +
            "none of its changes was made, those to other resources may have been",
        );
      }
      const { had } = outcome;
      const results = changes.map(({ type }, index) => ({ changed: (type === "remove") === had[index] }));
      return { status: 200, body: { results } };
    },
  } satisfies Partial<Handlers<operations>>;
}
