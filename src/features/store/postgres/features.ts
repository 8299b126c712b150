import type { Sql } from "../../../database/database.ts";
import { inChunks } from "../../../values/chunks.ts";
import { inBatches } from "../../../waiting/batches.ts";
import { letOthersRun, mapInTurns } from "../../../waiting/turns.ts";
import { keyOfName } from "../name-key.ts";
import { type ChangeOutcome, type ChangeRequest, type Entry, type Features, featuresMax } from "../store.ts";
import { late } from "./failure.ts";
import { expiryIn, type FeatureRow, isLiveCondition } from "./rows.ts";

/** Number of entries of a list that is read on a connection of its own. */
const longList = 100;
/** Number of features that are looked up on a connection of its own. */
const manyFeatures = 20;
/** Maximum number of features that one statement looks up for many resources. */
const featuresPerRead = 2000;

const listText = `select coalesce(names[3], feature) as feature, expires_at from feature_storage.feature
  where resource = $1 and id = $2 and ${isLiveCondition("$3")} order by place`;
const listStartText = `${listText} limit ${longList + 1}`;
const hasOneText = `select feature from feature_storage.feature
  where resource = $1 and id = $2 and feature = $3 and ${isLiveCondition("$4")}`;
/** The limit makes the plan a look-up of each key, where a list could be read as a whole. */
const hasSomeText = `select wanted.feature from unnest($3::text[]) as wanted (feature)
  cross join lateral (
    select from feature_storage.feature
    where resource = $1 and id = $2 and feature = wanted.feature and ${isLiveCondition("$4")} limit 1
  ) as present`;

type ListRow = Pick<FeatureRow, "feature" | "expires_at">;

/** The places of the resources and features, from 1, of those that are present. */
const hasEachText = `select wanted.resource_place, wanted.feature_place
  from (
    select * from unnest($1::text[], $2::text[]) with ordinality as each_resource (resource, id, resource_place)
      cross join unnest($3::text[]) with ordinality as each_feature (feature, feature_place)
  ) as wanted
  cross join lateral (
    select from feature_storage.feature
    where resource = wanted.resource and id = wanted.id and feature = wanted.feature and ${isLiveCondition("$4")}
    limit 1
  ) as present`;

/** The features of each resource. Their feed keeps at least `kept` records, or all. */
export function featuresIn(read: Sql["query"], write: Sql["query"], kept: number | null): Features {
  const makeChanges = inBatches<ReturnType<typeof keysOf>, ChangeOutcome>(
    async (requests) => {
      const [row] = await write<{ outcomes: (boolean[] | Rejection)[] }>(
        "select feature_storage.change($1, $2, $3, $4) as outcomes",
        [JSON.stringify(requests), Date.now(), featuresMax, kept],
        "repeated",
      );
      return (row?.outcomes ?? []).map((outcome) =>
        typeof outcome === "string" ? { rejected: outcome } : { had: outcome },
      );
    },
    // A batch is one transaction.
    {
      requests: 50,
      size: 100,
      sizeOf: ({ changes, onlyIf = [] }) => changes.length + onlyIf.length,
      maxMs: 5000,
      late,
    },
  );
  return {
    list: (resource, id) => readList(read, resource, id),
    async has(resource, id, features) {
      const keys = features.map(keyOfName);
      const [text, value] = keys.length === 1 ? [hasOneText, keys[0]] : [hasSomeText, keys];
      const rows = await read<{ feature: string }>(
        text,
        [keyOfName(resource), keyOfName(id), value, Date.now()],
        keys.length > manyFeatures ? "repeated" : "prepared",
      );
      const found = new Set(rows.map(({ feature }) => feature));
      return keys.map((key) => found.has(key));
    },
    async hasEach(resources, features) {
      const keys = features.map(keyOfName);
      const results: boolean[][] = [];
      for (const some of inChunks(resources, () => keys.length, featuresPerRead)) {
        const rows = await read<{ resource_place: bigint; feature_place: bigint }>(
          hasEachText,
          [some.map((one) => keyOfName(one.resource)), some.map(({ id }) => keyOfName(id)), keys, Date.now()],
          "repeated",
        );
        const has = some.map(() => keys.map(() => false));
        for (const { resource_place, feature_place } of rows)
          (has[Number(resource_place) - 1] as boolean[])[Number(feature_place) - 1] = true;
        results.push(...has);
        await letOthersRun();
      }
      return results;
    },
    change: (...request) => makeChanges(keysOf(request)),
  };
}

/** See `Features.list`. */
export async function readList(read: Sql["query"], resource: string, id: string): Promise<Entry[]> {
  const values = [keyOfName(resource), keyOfName(id), Date.now()];
  let rows = await read<ListRow>(listStartText, values);
  if (rows.length > longList) rows = await read<ListRow>(listText, values, "repeated");
  return await mapInTurns(rows, ({ feature, expires_at }) => ({
    resource,
    id,
    feature,
    ...expiryIn(expires_at),
  }));
}

type Rejection = Extract<ChangeOutcome, { rejected: string }>["rejected"];

/** A request as `feature_storage.change` takes it, with the keys of names. */
function keysOf([resource, id, changes, onlyIf]: ChangeRequest) {
  const [resourceKey, idKey] = [keyOfName(resource), keyOfName(id)];
  const isLong = resourceKey !== resource || idKey !== id;
  return {
    resource: resourceKey,
    id: idKey,
    onlyIf: onlyIf?.map(keyOfName),
    additions: changes.filter(({ type }) => type === "add").length,
    changes: changes.map((change) => {
      const feature = keyOfName(change.feature);
      const hasNames = change.type === "add" && (isLong || feature !== change.feature);
      return { ...change, feature, names: hasNames ? [resource, id, change.feature] : undefined };
    }),
  };
}
