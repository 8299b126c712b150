import type { components, operations } from "../../../generated/features.ts";
import type { Handlers } from "../../http/handlers.ts";
import { parseJson, toJson } from "../../values/json.ts";
import { eachInTurns, mapInTurns } from "../../waiting/turns.ts";
import { errorLine, tooManyFeatures, unknownCursor } from "../requests/errors.ts";
import { expiryOf, isPast, viewExpiry } from "../requests/expiry.ts";
import { openChangeStreams, viewRecord } from "../requests/feed.ts";
import type { LongWork } from "../requests/long-work.ts";
import { changeMany, type ResourceChange } from "../store/change-many.ts";
import type { Entry, EntryKey, FeatureStore } from "../store/store.ts";

type ChangeOperation = "hasFeatures" | "changeFeatures" | "listChanges" | "listEntries";

/** Number of resources of a query that are read at the same time. */
const resourcesAtATime = 4;

/** Bulk reads, bulk changes, the entries of a kind and the change feed. */
export function changeHandlers(
  store: FeatureStore,
  long: LongWork,
): Pick<Handlers<operations>, ChangeOperation> {
  const follow = openChangeStreams(store);
  return {
    async hasFeatures({ body: { resources, features }, owner, log }) {
      log.debug({ resources: resources.length, features }, "has features");
      const keyOf = ({ resource, id }: { resource: string; id: string }) => JSON.stringify([resource, id]);
      const distinct = new Map(resources.map((one) => [keyOf(one), one]));
      const found = new Map<string, boolean[]>();
      const read = () =>
        eachInTurns(distinct, resourcesAtATime, async ([key, { resource, id }]) => {
          found.set(key, await store.has(resource, id, features));
        });
      await long(owner, distinct.size * features.length, read);
      const results = resources.map((one) => ({ ...one, has: found.get(keyOf(one)) ?? [] }));
      return { status: 200, body: { results } };
    },

    async changeFeatures({ body: { changes }, owner, log }) {
      log.debug({ changes: changes.length }, "change features");
      for (const [index, { type, expires_at }] of changes.entries()) {
        if (expires_at === undefined) continue;
        const place = `body/changes/${index}/expires_at`;
        if (type === "remove") return errorLine(400, `${place} is not allowed with remove`);
        if (isPast(expiryOf(expires_at))) return errorLine(400, `${place} must be in the future`);
      }
      const makeChanges = () => changeMany(store.change, changes.map(resourceChangeOf));
      const outcome = await long(owner, changes.length, makeChanges);
      if ("tooMany" in outcome) {
        const { resource, id } = changes[outcome.tooMany] as (typeof changes)[number];
        return errorLine(
          400,
          `body/changes/${outcome.tooMany}: ${resource}/${id} ${tooManyFeatures}; ` +
            "none of its changes was made, those to other resources may have been",
        );
      }
      const results = changes.map(({ type }, index) => ({
        changed: (type === "remove") === outcome.had[index],
      }));
      return { status: 200, body: { results } };
    },

    async listEntries({ query: { resource, cursor, limit }, owner, log }) {
      log.debug({ resource, cursor, limit }, "list entries");
      const after = cursor === undefined ? undefined : readCursor(cursor);
      if (cursor !== undefined && !after) {
        return errorLine(400, "query parameter cursor must be the next_cursor of a page of this list");
      }
      const entries = await long(owner, limit, () => store.entriesOf(resource, after, limit));
      const last = entries.length === limit ? entries.at(-1) : undefined;
      return {
        status: 200,
        body: {
          entries: await mapInTurns(entries, viewEntry),
          ...(last && { next_cursor: writeCursor(last) }),
        },
      };
    },

    async listChanges({ query: { cursor, limit }, headers, mediaType, signal, log, owner }) {
      const given = headers["Last-Event-ID"] ?? cursor;
      log.debug({ cursor: given, limit }, "list changes");
      const isStream = mediaType === "text/event-stream";
      // Read before the records, so that a record added in between is after the cursor and on the next page.
      const newest = given === undefined || given === "newest" ? await store.newest() : given;
      const after = given === "newest" ? newest : given;
      // A stream reads its records by itself. Only a cursor that the client has kept can be too old.
      const size = isStream ? 1 : limit;
      const entries =
        isStream && given !== newest ? [] : await long(owner, size, () => store.changes(after, size));
      if (entries === undefined) return errorLine(410, unknownCursor);
      if (isStream) return { status: 200, type: mediaType, body: follow(owner, {}, after, signal) };
      const next_cursor = entries.at(-1)?.cursor ?? newest;
      return mediaType === "application/x-ndjson"
        ? { status: 200, type: mediaType, body: entries.map(viewRecord).map(toJson).join("") }
        : { status: 200, body: { changes: entries.map(viewRecord), next_cursor } };
    },
  };
}

function viewEntry({ expiresAt, ...entry }: Entry): components["schemas"]["Entry"] {
  return { ...entry, ...viewExpiry(expiresAt) };
}

const writeCursor = ({ feature, id }: EntryKey): string =>
  Buffer.from(JSON.stringify([feature, id])).toString("base64url");

function readCursor(cursor: string): EntryKey | undefined {
  const names = parseJson(Buffer.from(cursor, "base64url").toString());
  const [feature, id, ...more] = Array.isArray(names) ? names : [];
  const isValid = typeof feature === "string" && typeof id === "string" && more.length === 0;
  return isValid ? { feature, id } : undefined;
}

function resourceChangeOf(change: components["schemas"]["FeatureChange"]): ResourceChange {
  const { type, resource, id, feature, expires_at } = change;
  const named = { resource, id, feature };
  return type === "add" ? { type, ...named, expiresAt: expiryOf(expires_at) } : { type, ...named };
}
