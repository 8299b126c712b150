import type { Sql } from "../../../database/database.ts";
import { mapInTurns } from "../../../waiting/turns.ts";
import { foldHistory } from "../fold-history.ts";
import { keyOfName } from "../name-key.ts";
import type { History, State } from "../store.ts";
import { type StoredEntry, withoutPlace } from "../stored-entry.ts";
import { readRecords } from "./feed.ts";
import { type ChangeRow, changeColumns, keyOfPosition, recordIn } from "./rows.ts";

/** A row of the table `feature_list`, and the number of the next list of the resource. */
type ListRow = { number: bigint; entries: Omit<StoredEntry, "resource" | "id">[]; next: bigint | null };

/** The last addition or removal of a feature until an instant. An expiry follows from the addition. */
const lastRecordText = (id: string, feature: string, at: string) =>
  `select type, expires_at from feature_storage.change
  where resource = $1 and id = ${id} and feature = ${feature} and at <= ${at} and type <> 'expired'
  order by at desc, number desc limit 1`;
const isPresentCondition = (at: string) =>
  `last.type = 'added' and (last.expires_at is null or last.expires_at > ${at})`;

/** The past of a store whose feed keeps all records. */
export const historyIn = (query: Sql["query"]): History => ({
  async settled() {
    const text = "select feature_storage.settled() as instant";
    const [row] = await query<{ instant: bigint }>(text, [], "repeated");
    return Number(row?.instant);
  },
  at: (instant) => stateAt(query, instant),
  changes: (resource, id, after, limit) =>
    readRecords(query, "resource = $3 and id = $4", [keyOfName(resource), keyOfName(id)], after, limit),
});

const stateAt = (query: Sql["query"], at: number): State => ({
  async list(resource, id) {
    const keys = [keyOfName(resource), keyOfName(id)];
    const [list] = await query<ListRow>(
      `select number, entries, (
        select next.number from feature_storage.feature_list next
        where next.resource = $1 and next.id = $2 and (next.at, next.number) > (list.at, list.number)
        order by next.at, next.number limit 1
      ) as next
      from feature_storage.feature_list list
      where resource = $1 and id = $2 and at <= $3 order by at desc, number desc limit 1`,
      [...keys, at],
      "repeated",
    );
    const rows = await query<ChangeRow>(
      `select ${changeColumns} from feature_storage.change
      where resource = $1 and id = $2 and number > $3 and number < $4 order by number`,
      [...keys, list?.number ?? 0, list?.next ?? Number.MAX_SAFE_INTEGER],
      "repeated",
    );
    const entries = (list?.entries ?? []).map((entry) => ({ resource, id, ...entry }));
    const records = await mapInTurns(rows, (row) => ({ number: Number(row.number), record: recordIn(row) }));
    return foldHistory(entries, records, at).map(withoutPlace);
  },
  async has(resource, id, features) {
    const keys = features.map(keyOfName);
    const rows = await query<{ feature: string }>(
      `select wanted.feature from unnest($3::text[]) as wanted (feature)
      cross join lateral (${lastRecordText("$2", "wanted.feature", "$4")}) as last where ${isPresentCondition("$4")}`,
      [keyOfName(resource), keyOfName(id), keys, at],
      "repeated",
    );
    const found = new Set(rows.map(({ feature }) => feature));
    return keys.map((key) => found.has(key));
  },
  async idsWith(resource, feature, after, limit) {
    // One more than the limit, to find out whether there are more.
    const rows = await query<{ id: string; is_present: boolean | null }>(
      `with recursive examined as (
        (
          select id, names from feature_storage.change
          where resource = $1 and feature = $2 and id > $3 order by id limit 1
        )
        union all
        select next.id, next.names from examined cross join lateral (
          select id, names from feature_storage.change
          where resource = $1 and feature = $2 and id > examined.id order by id limit 1
        ) as next
      )
      select coalesce(names[2], id) as id, ${isPresentCondition("$4")} as is_present
      from (select * from examined limit $5) as examined
      left join lateral (${lastRecordText("examined.id", "$2", "$4")}) as last on true`,
      [keyOfName(resource), keyOfName(feature), keyOfPosition(after), at, limit + 1],
      "repeated",
    );
    const page = rows.slice(0, limit);
    const present = page.filter((row) => row.is_present);
    const ids = await mapInTurns(present, ({ id }) => id);
    return { ids, next: rows.length > limit ? page.at(-1)?.id : undefined };
  },
});
