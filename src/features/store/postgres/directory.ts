import type { Sql } from "../../../database/database.ts";
import { mapInTurns } from "../../../waiting/turns.ts";
import { keyOfName } from "../name-key.ts";
import { type Directory, featuresMax, pageOf, resourceKey } from "../store.ts";
import { isLive, liveInOrder, withoutPlace } from "../stored-entry.ts";
import { readList } from "./features.ts";
import {
  entryIn,
  expiryIn,
  type FeatureRow,
  featureColumns,
  isLiveCondition,
  keyOfPosition,
} from "./rows.ts";

/** Number of ids of a page that is read beside the statements of others. */
const shortPage = 100;
/** Number of entries that `entries` reads at once. A list of `featuresMax` is always read at once. */
const entriesPerRead = 2 * featuresMax;

const pageColumns = `select coalesce(names[2], id) as id, expires_at from feature_storage.feature
  where resource = $1 and feature = $2 and id > $3`;
const inOrder = "order by feature.id limit $4";
/** It reads no more rows than it returns, however many have expired. */
const shortPageText = `${pageColumns} ${inOrder}`;
const pageText = `${pageColumns} and ${isLiveCondition("$5")} ${inOrder}`;

type IdRow = Pick<FeatureRow, "id" | "expires_at">;

/** The resources and features of each kind of resource. */
export const directoryOf = (read: Sql["query"]): Directory => ({
  async idsWith(resource, feature, after, limit) {
    const values = [keyOfName(resource), keyOfName(feature), keyOfPosition(after)];
    if (limit <= shortPage) {
      const rows = await read<IdRow>(shortPageText, [...values, limit]);
      const ids = rows.filter(({ expires_at }) => isLive(expiryIn(expires_at))).map(({ id }) => id);
      if (ids.length === rows.length || rows.length < limit) return pageOf(ids, limit);
    }
    const rows = await read<IdRow>(pageText, [...values, limit, Date.now()], "repeated");
    return pageOf(await mapInTurns(rows, ({ id }) => id), limit);
  },
  async counts(resource, features) {
    const rows = await read<{ resources: bigint }>(
      `select coalesce(feature_use.resources, 0) - (
        select count(*) from feature_storage.feature
        where resource = $1 and feature.feature = wanted.feature and expires_at <= $3
      ) as resources
      from unnest($2::text[]) with ordinality as wanted (feature, position)
      left join feature_storage.feature_use on resource = $1 and feature_use.feature = wanted.feature
      order by position`,
      [keyOfName(resource), features.map(keyOfName), Date.now()],
      features.length > 1 ? "repeated" : undefined,
    );
    return await mapInTurns(rows, ({ resources }) => Number(resources));
  },
  async featuresInUse(resource, after, limit) {
    const rows = await read<{ feature: string }>(
      `select coalesce(name, feature) as feature from feature_storage.feature_use
      where resource = $1 and feature > $2 order by feature_use.feature limit $3`,
      [keyOfName(resource), keyOfPosition(after), limit],
      "repeated",
    );
    return await mapInTurns(rows, ({ feature }) => feature);
  },
  async kinds(after, limit) {
    // Each step skips all entries of the kind before.
    const rows = await read<{ kind: string }>(
      `with recursive entry as (
        (select resource, names from feature_storage.feature where resource > $1 order by resource limit 1)
        union all
        select next.* from entry cross join lateral (
          select feature.resource, feature.names from feature_storage.feature
          where feature.resource > entry.resource order by feature.resource limit 1
        ) as next
      )
      select coalesce(names[1], resource) as kind from entry limit $2`,
      [keyOfPosition(after), limit],
      "repeated",
    );
    return await mapInTurns(rows, ({ kind }) => kind);
  },
  async entriesOf(resource, after, limit) {
    const rows = await read<FeatureRow>(
      `select ${featureColumns} from feature_storage.feature
      where resource = $1 and (feature, id) > ($2, $3) and ${isLiveCondition("$4")}
      order by feature, id limit $5`,
      [keyOfName(resource), keyOfPosition(after?.feature), keyOfPosition(after?.id), Date.now(), limit],
      "repeated",
    );
    return await mapInTurns(rows, (row) => withoutPlace(entryIn(row)));
  },
  async *entries() {
    for (let after = { resource: "", id: "" }; ; ) {
      const rows = await read<FeatureRow>(
        `select ${featureColumns} from feature_storage.feature
        where (resource, id) > ($1, $2) order by resource, id, feature limit $3`,
        [after.resource, after.id, entriesPerRead],
        "repeated",
      );
      const lists = [...Map.groupBy(rows, resourceKey).values()];
      // The last list of a full page can be incomplete.
      if (rows.length === entriesPerRead && lists.length > 1) lists.pop();
      const [last] = lists.at(-1) ?? [];
      if (!last) return;
      if (lists[0]?.length === entriesPerRead) {
        const { resource, id } = entryIn(last);
        yield* await readList(read, resource, id);
      } else {
        for (const list of lists) yield* liveInOrder(await mapInTurns(list, entryIn)).map(withoutPlace);
      }
      after = last;
    }
  },
});
