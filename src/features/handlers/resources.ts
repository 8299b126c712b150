import type { operations } from "../../../generated/features.ts";
import { failure, parameterFault } from "../../http/failure.ts";
import type { Handlers } from "../../http/handlers.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { readCursor, readNameCursor, viewEntry, viewNameCursor, writeCursor } from "../requests/entry.ts";
import { viewExpiry } from "../requests/expiry.ts";
import { type LongWork, sizeAt } from "../requests/long-work.ts";
import type { StateAt } from "../requests/state.ts";
import { type Directory, type Features, pageOf } from "../store/store.ts";

const countNotAllowed = parameterFault(
  "count",
  { not: "as_of" },
  "query parameter count is not allowed with as_of",
);
const unknownPageCursor = parameterFault(
  "cursor",
  { from: "next_cursor" },
  "query parameter cursor must be the next_cursor of a page of this list",
);

/** One resource with its features, the kinds of resources, and the features, resources and entries of each kind. */
export function resourceHandlers(store: Features & Directory, stateAt: StateAt, long: LongWork) {
  return {
    async getResource({ path: { resource, id }, log }) {
      log.debug({ resource, id }, "get resource");
      const features = await mapInTurns(await store.list(resource, id), ({ feature, expiresAt }) => ({
        feature,
        ...viewExpiry(expiresAt),
      }));
      return { status: 200, body: { resource, id, features } };
    },

    async listResources({ path: { resource }, query: { feature, count, as_of, cursor, limit }, owner, log }) {
      log.debug({ resource, feature }, "list resources");
      const state = await stateAt(as_of);
      if ("status" in state) return state;
      if (count && as_of !== undefined) {
        return failure(400, countNotAllowed);
      }
      const after = readNameCursor(cursor);
      const page = () => state.idsWith(resource, feature, after, limit);
      const { ids, next } = await long(owner, sizeAt(as_of, limit), page);
      const body = {
        ids,
        ...viewNameCursor(next),
        ...(count && { count: (await store.counts(resource, [feature]))[0] ?? 0 }),
      };
      return { status: 200, body };
    },

    async listKinds({ query: { cursor, limit }, owner, log }) {
      log.debug({ cursor, limit }, "list kinds");
      const kinds = await long(owner, limit, () => store.kinds(readNameCursor(cursor), limit));
      return { status: 200, body: { kinds, ...viewNameCursor(pageOf(kinds, limit).next) } };
    },

    async listFeaturesInUse({ path: { resource }, query: { cursor, limit }, owner, log }) {
      log.debug({ resource, cursor, limit }, "list features in use");
      const [names, counts] = await long(owner, limit, async () => {
        const names = await store.featuresInUse(resource, readNameCursor(cursor), limit);
        return [names, await store.counts(resource, names)];
      });
      // One that has left use in between, or that has just expired everywhere, has the count 0.
      const features = names
        .map((feature, index) => ({ feature, count: counts[index] ?? 0 }))
        .filter(({ count }) => count > 0);
      return { status: 200, body: { features, ...viewNameCursor(pageOf(names, limit).next) } };
    },

    async listEntries({ query: { resource, cursor, limit }, owner, log }) {
      log.debug({ resource, cursor, limit }, "list entries");
      const after = cursor === undefined ? undefined : readCursor(cursor);
      if (cursor !== undefined && !after) {
        return failure(400, unknownPageCursor);
      }
      const found = await long(owner, limit, () => store.entriesOf(resource, after, limit));
      const last = found.length === limit ? found.at(-1) : undefined;
      const entries = await mapInTurns(found, viewEntry);
      return { status: 200, body: { entries, ...(last && { next_cursor: writeCursor(last) }) } };
    },
  } satisfies Partial<Handlers<operations>>;
}
