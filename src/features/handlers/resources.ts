import type { operations } from "../../../generated/features.ts";
import { failure, parameterFault } from "../../http/failure.ts";
import type { Handlers } from "../../http/handlers.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { readCursor, viewEntry, writeCursor } from "../requests/entry.ts";
import { viewExpiry } from "../requests/expiry.ts";
import { type LongWork, sizeAt } from "../requests/long-work.ts";
import type { StateAt } from "../requests/state.ts";
import type { Directory, Features } from "../store/store.ts";

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

/** One resource with its features, the resources with a feature, and the entries of a kind of resource. */
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
      const after = cursor && Buffer.from(cursor, "base64url").toString();
      const page = () => state.idsWith(resource, feature, after, limit);
      const { ids, next } = await long(owner, sizeAt(as_of, limit), page);
      const body = {
        ids,
        ...(next !== undefined && { next_cursor: Buffer.from(next).toString("base64url") }),
        ...(count && { count: await store.count(resource, feature) }),
      };
      return { status: 200, body };
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
